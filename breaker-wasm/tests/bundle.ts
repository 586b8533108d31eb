/** Programs as wrangler would bundle them: the module stays a file. */

import { readFileSync } from "node:fs";
import { type BuildOptions, build } from "esbuild";

export async function bundled(program: Pick<BuildOptions, "entryPoints" | "stdin" | "plugins">) {
  const { outputFiles } = await build({
    ...program,
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    conditions: ["workerd"],
    external: ["*.wasm"],
    logLevel: "warning",
  });
  return [
    { type: "ESModule" as const, path: "worker.mjs", contents: outputFiles[0]?.text ?? "" },
    {
      type: "CompiledWasm" as const,
      path: "breaker.wasm",
      contents: readFileSync(new URL("../dist/breaker.wasm", import.meta.url)),
    },
  ];
}
