// A program in workerd, in an isolate of its own, under time that the test moves.

import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Plugin } from "esbuild";
import { Miniflare, type MiniflareOptions } from "miniflare";
import { bundled } from "../bundle.js";

const here = fileURLToPath(new URL(".", import.meta.url));

/** Where `steered.ts` finds the program. */
const PROGRAM = "worker-under-test";

const program = (text: string): Plugin => ({
  name: "program",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: new RegExp(`^${PROGRAM}$`) }, () => ({
      path: PROGRAM,
      namespace: PROGRAM,
    }));
    onLoad({ filter: /.*/, namespace: PROGRAM }, () => ({
      contents: text,
      loader: "ts",
      resolveDir: here,
    }));
  },
});

export class Isolate {
  /** What the runtime complained of. */
  readonly complaints: string[] = [];
  #runtime: Miniflare | undefined;

  /** Starts a worker; `text` is a module's with a `fetch` as its default export. */
  static async of(text: string, options: object = {}): Promise<Isolate> {
    const modules = await bundled({
      entryPoints: [`${here}steered.ts`],
      plugins: [program(text)],
    });
    const isolate = new Isolate();
    isolate.#runtime = new Miniflare({
      compatibilityDate: "2026-04-01",
      handleRuntimeStdio(_: Readable, errors: Readable) {
        errors.setEncoding("utf8").on("data", (text: string) => isolate.complaints.push(text));
      },
      ...options,
      modules,
    } as MiniflareOptions);
    await isolate.#runtime.ready;
    return isolate;
  }

  /** Where it is reached from outside. */
  async url(path: string): Promise<URL> {
    return new URL(path, await this.#runtime?.ready);
  }

  /** One that is never answered fails. */
  async ask(path: string, headers = {}): Promise<{ status: number; body: string }> {
    const signal = AbortSignal.timeout(30_000);
    const response = await fetch(await this.url(path), { headers, signal });
    return { status: response.status, body: await response.text() };
  }

  /** Moves its time on, which stands still otherwise. */
  async advance(ms: number): Promise<void> {
    await this.ask("/", { "x-advance": String(ms) });
  }

  /** What stands in its key-value store. */
  async read(store: string, key: string): Promise<string> {
    return String(await (await this.#runtime?.getKVNamespace(store))?.get(key));
  }

  async write(store: string, key: string, value: string): Promise<void> {
    await (await this.#runtime?.getKVNamespace(store))?.put(key, value);
  }

  async stop(): Promise<void> {
    await this.#runtime?.dispose();
  }
}
