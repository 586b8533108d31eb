/**
 * For edge workers and bundlers: the module is imported, neither fetched nor evaluated. workerd gives
 * a module to be instantiated; a bundler that follows the ES module integration of WebAssembly gives
 * what it exports.
 */

import * as imported from "./breaker.wasm";
import { install } from "../module.js";

const { default: module } = imported as unknown as { default?: WebAssembly.Module };
install(
  module ? new WebAssembly.Instance(module).exports : (imported as unknown as WebAssembly.Exports),
);

export * from "../index.js";
