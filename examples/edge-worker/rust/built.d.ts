// What `cargo xtask edge-worker` builds.
declare module "edge-worker-built/edge_worker_rust_bg.js" {
  export function __wbg_set_wasm(exports: WebAssembly.Exports): void;
  export function fetch(request: Request, env: unknown, context: unknown): Promise<Response>;
}

declare module "edge-worker-built/edge_worker_rust_bg.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
