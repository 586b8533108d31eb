/** For Node: the module is read beside this file, at once. */

import { readFileSync } from "node:fs";
import { install } from "../module.js";

const bytes = readFileSync(new URL("./breaker.wasm", import.meta.url));
install(new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports);

export * from "../index.js";
