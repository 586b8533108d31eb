/** What an import of a WebAssembly module gives in edge workers. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
