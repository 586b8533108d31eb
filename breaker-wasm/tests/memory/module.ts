/** The memory of the package's module, which no user sees: to be imported before the package. */

const made: WebAssembly.Instance[] = [];

WebAssembly.Instance = class extends WebAssembly.Instance {
  constructor(module: WebAssembly.Module, imports?: WebAssembly.Imports) {
    super(module, imports);
    made.push(this);
  }
};

/** Bytes that the module asked for. */
export function moduleBytes(): number {
  const [instance, another] = made;
  if (!instance || another) {
    throw new Error(`${made.length} modules and not one`);
  }
  return (instance.exports["memory"] as WebAssembly.Memory).buffer.byteLength;
}
