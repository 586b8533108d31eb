// What a user's bundle gains.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const packageRoot = fileURLToPath(new URL("..", import.meta.url));

/** Bytes, as they are and by `gzip -9`. */
export interface Bytes {
  readonly raw: number;
  readonly gzip: number;
}

export interface Size {
  readonly by: string;
  readonly what: string;
  readonly js: Bytes;
  readonly wasm: Bytes;
  readonly all: Bytes;
}

interface Program {
  readonly by: string;
  readonly what: string;
  readonly text: string;
  readonly conditions: string[];
}

const ONE = 'export { CircuitBreaker } from "breaker-wasm";';
const ALL = 'export * from "breaker-wasm";';

const PROGRAMS: readonly Program[] = [
  {
    by: "breaker-wasm",
    what: "worker and bundler entry, `CircuitBreaker` alone",
    text: ONE,
    conditions: ["workerd"],
  },
  {
    by: "breaker-wasm",
    what: "worker and bundler entry, everything",
    text: ALL,
    conditions: ["workerd"],
  },
  {
    by: "breaker-wasm",
    what: "worker entry and `durable-object`, everything",
    text: `${ALL} export * from "breaker-wasm/durable-object";`,
    conditions: ["workerd"],
  },
  { by: "breaker-wasm", what: "web entry, everything", text: ALL, conditions: ["browser"] },
  {
    by: "cockatiel",
    what: "circuit breaker, timeout and fallback",
    text: 'export { circuitBreaker, ConsecutiveBreaker, fallback, handleWhen, timeout, TimeoutStrategy, wrap } from "cockatiel";',
    conditions: [],
  },
  { by: "cockatiel", what: "everything", text: 'export * from "cockatiel";', conditions: [] },
  {
    by: "opossum",
    what: "everything, without `events`",
    text: 'export { default } from "opossum";',
    conditions: [],
  },
];

function bytes(data: string | Uint8Array): Bytes {
  return { raw: Buffer.byteLength(data), gzip: gzipSync(data, { level: 9 }).length };
}

async function size({ by, what, text, conditions }: Program): Promise<Size> {
  const made = await build({
    stdin: { contents: text, resolveDir: packageRoot },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    mainFields: ["module", "main"],
    conditions,
    external: ["*.wasm", "events"],
    legalComments: "none",
    logLevel: "warning",
  });
  const js = bytes(made.outputFiles[0]?.contents ?? "");
  const ours = by === "breaker-wasm";
  const wasm = bytes(ours ? readFileSync(`${packageRoot}dist/breaker.wasm`) : "");
  const none = bytes("");
  const module = ours ? wasm : { raw: 0, gzip: 0 };
  const all = { raw: js.raw + module.raw, gzip: js.gzip + module.gzip };
  if (js.raw <= none.raw) throw new Error(`nothing is left of ${by}: ${what}`);
  return { by, what, js, wasm: module, all };
}

export function sizes(): Promise<Size[]> {
  return Promise.all(PROGRAMS.map(size));
}
