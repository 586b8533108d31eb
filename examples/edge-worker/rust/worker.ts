// Starts the Rust half: the module is compiled already, a worker only instantiates it.
import * as glue from "edge-worker-built/edge_worker_rust_bg.js";
import module from "edge-worker-built/edge_worker_rust_bg.wasm";

const instance = new WebAssembly.Instance(module, { "./edge_worker_rust_bg.js": { ...glue } });
glue.__wbg_set_wasm(instance.exports);
(instance.exports["__wbindgen_start"] as () => void)();

export default { fetch: glue.fetch };
