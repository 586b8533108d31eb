// Either half as one script, and started in workerd, Cloudflare's own runtime.
import { readFile } from "node:fs/promises";
import { basename, isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { Miniflare } from "miniflare";

/** The worker's languages. */
export const HALVES = ["rust", "typescript"] as const;
export type Half = (typeof HALVES)[number];

/** What a worker is started with. */
export interface Settings {
  half: Half;
  /** Where `cargo xtask` built what belongs to the half: the Rust half's module. */
  built: string;
  /** The variable that says where the PMS is. */
  pmsUrl?: string;
  /** A script around the worker, which imports it as `worker-under-test`. */
  around?: string;
  port?: number;
}

/** Starts a worker in an isolate of its own. */
export async function start(settings: Settings): Promise<Miniflare> {
  const { half, built, pmsUrl, around, port } = settings;
  const entry = fileURLToPath(new URL(`${half}/worker.ts`, import.meta.url));
  /** Each module's file. */
  const modules = new Set<string>();
  const bundled = await build({
    entryPoints: [around ?? entry],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker"],
    alias: { "worker-under-test": entry, "edge-worker-built": built },
    plugins: [
      {
        // Modules of WebAssembly stay files of their own: a worker may not compile any.
        name: "modules",
        setup({ onResolve }) {
          onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
            const ofBuilt = path.replace(/^edge-worker-built\//, "");
            const from = ofBuilt === path ? resolveDir : built;
            modules.add(isAbsolute(path) ? path : resolve(from, ofBuilt));
            return { path: `./${basename(path)}`, external: true };
          });
        },
      },
    ],
  });
  const script = bundled.outputFiles[0]?.text ?? "";
  const compiled = [...modules].map(async (file) => {
    const contents = await readFile(file);
    return { type: "CompiledWasm" as const, path: basename(file), contents };
  });
  return new Miniflare({
    modules: [
      { type: "ESModule", path: "worker.js", contents: script },
      ...(await Promise.all(compiled)),
    ],
    compatibilityDate: "2026-03-01",
    bindings: pmsUrl === undefined ? {} : { PMS_URL: pmsUrl },
    ...(port === undefined ? {} : { port }),
  });
}
