/** For browsers: the module is fetched from beside this file. */

import { install } from "../module.js";

const response = await fetch(new URL("./breaker.wasm", import.meta.url));
const { instance } = await WebAssembly.instantiate(await response.arrayBuffer());
install(instance.exports);

export * from "../index.js";
