// What the page is made of, and how: for `serve.ts`, and for the tests.

import { fileURLToPath } from "node:url";
import { type BuildOptions, context } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

const PAGE: BuildOptions = {
  absWorkingDir: root,
  entryPoints: [
    { in: "index.html", out: "index" },
    { in: "style.css", out: "style" },
    { in: "src/main.ts", out: "main" },
    // The package's entry for the web fetches it from beside itself.
    { in: "breaker-wasm/breaker.wasm", out: "breaker" },
  ],
  // The package's timers are the simulation's: its `timeout` runs on virtual time.
  inject: ["src/timers.ts"],
  outdir: "dist",
  // It is served from memory.
  write: false,
  bundle: true,
  format: "esm",
  target: "es2022",
  platform: "browser",
  loader: { ".html": "copy", ".wasm": "copy" },
  logLevel: "warning",
};

export interface Served {
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves the page on loopback; without a port, on the first free one from 8000 on. */
export async function serve(port?: number): Promise<Served> {
  const building = await context(PAGE);
  const { port: taken } = await building.serve({
    host: "127.0.0.1",
    servedir: `${root}dist`,
    ...(port === undefined ? {} : { port }),
  });
  return { url: `http://127.0.0.1:${taken}/`, stop: () => building.dispose() };
}
