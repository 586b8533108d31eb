// Node and workerd, and the comparisons in them.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import { Miniflare } from "miniflare";
import { type Table, compare, time } from "./compare.js";
import { type Effort, median } from "./measure.js";

const here = fileURLToPath(new URL(".", import.meta.url));

async function bundle(program: string, options: BuildOptions): Promise<string> {
  const made = await build({
    entryPoints: [join(here, program)],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    logLevel: "warning",
    ...options,
  });
  return made.outputFiles?.[0]?.text ?? "";
}

/** In a process of its own, in which nothing else has a hand; the libraries are not bundled. */
export async function inNode(effort: Effort): Promise<Table[]> {
  const script = await bundle("node.ts", { platform: "node", packages: "external" });
  // Here, so that it finds the packages.
  const folder = join(here, ".built");
  mkdirSync(folder, { recursive: true });
  try {
    const program = join(folder, "node.mjs");
    writeFileSync(program, script);
    const said = execFileSync(process.execPath, [program, JSON.stringify(effort)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    return JSON.parse(said) as Table[];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** opossum wants a module of Node's, and by `require`. */
const REQUIRE = 'import events from "node:events"; const require = () => events;';

/**
 * Timed from here, as the clock of a worker may stand still while it runs. A request takes longer than
 * a call by far: it is measured beside, without calls, and taken off, and a slice is longer than in Node.
 */
export async function inWorkerd(effort: Effort): Promise<Table[]> {
  const script = await bundle("worker.ts", {
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions: ["workerd"],
    external: ["*.wasm", "events"],
    banner: { js: REQUIRE },
  });
  const worker = new Miniflare({
    compatibilityDate: "2026-04-01",
    compatibilityFlags: ["nodejs_compat"],
    modules: [
      { type: "ESModule", path: "worker.mjs", contents: script },
      {
        type: "CompiledWasm",
        path: "breaker.wasm",
        contents: readFileSync(new URL("../dist/breaker.wasm", import.meta.url)),
      },
    ],
  });
  try {
    const url = await worker.ready;
    const request = async (comparison: number, subject: number, calls: number) => {
      const query = `?comparison=${comparison}&subject=${subject}&calls=${calls}`;
      const response = await fetch(new URL(query, url));
      const said = await response.text();
      if (!response.ok) throw new Error(`the worker says ${response.status}: ${said}`);
    };
    const empty: number[] = [];
    const timing = (comparison: number, subject: number) => async (calls: number) => {
      empty.push(await time(() => request(comparison, subject, 0)));
      const took = await time(() => request(comparison, subject, calls));
      return took - median(empty.slice(-31));
    };
    return await compare(timing, effort);
  } finally {
    await worker.dispose();
  }
}
