// Either half as one script, and started in workerd, Cloudflare's own runtime.
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { Miniflare } from "miniflare";

/** The worker's languages. */
export const HALVES = ["rust"] as const;
export type Half = (typeof HALVES)[number];

/** What a worker is started with. */
export interface Settings {
  half: Half;
  /** Where `cargo xtask` built what belongs to the half. */
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
  const modules: string[] = [];
  const bundled = await build({
    entryPoints: [around ?? entry],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    alias: { "worker-under-test": entry, "edge-worker-built": built },
    plugins: [
      {
        // Modules of WebAssembly stay files of their own: a worker may not compile any.
        name: "modules",
        setup({ onResolve }) {
          onResolve({ filter: /\.wasm$/ }, ({ path }) => {
            modules.push(basename(path));
            return { path: `./${basename(path)}`, external: true };
          });
        },
      },
    ],
  });
  const script = bundled.outputFiles[0]?.text ?? "";
  const compiled = modules.map(async (path) => {
    const contents = await readFile(join(built, path));
    return { type: "CompiledWasm" as const, path, contents };
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
