// Makes `dist/` beside `dist/breaker.wasm`, which `cargo xtask wasm` has put there: an entry for
// each file of `js/entry/`, what they share once, and the types.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const workspace = resolve(root, "..");
const dist = join(root, "dist");
const entries = join(root, "js/entry");

checkModule(join(dist, "breaker.wasm"));
await bundle();
makeTypes();
for (const license of ["LICENSE-APACHE", "LICENSE-MIT"]) {
  cpSync(join(workspace, license), join(dist, license));
}

/** Whoever runs the module gives it nothing: no glue, so no way to get that wrong. */
function checkModule(path: string) {
  const imports = WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(path)));
  if (imports.length > 0) {
    const names = imports.map(({ module, name }) => `${module}.${name}`);
    throw new Error(`${path} may import nothing, but imports ${names.join(", ")}`);
  }
}

async function bundle() {
  await build({
    entryPoints: readdirSync(entries).map((name) => join(entries, name)),
    outdir: dist,
    bundle: true,
    // Who imports two of the entries has one breaker, not two.
    splitting: true,
    chunkNames: "chunk-[hash]",
    format: "esm",
    target: "es2022",
    platform: "neutral",
    // What starts the module is the platform's entry, by the package's own name.
    external: ["*.wasm", "node:*", "breaker-wasm"],
    minify: true,
    legalComments: "none",
    logLevel: "warning",
  });
}

/** What the entries tell of themselves, and no file beside it. */
function makeTypes() {
  const made = join(dist, ".types");
  const project = join(root, "tsconfig.build.json");
  const tsc = spawnSync(join(workspace, "node_modules/.bin/tsc"), ["-p", project], {
    stdio: "inherit",
  });
  if (tsc.status !== 0) process.exit(1);
  const js = join(made, "js");
  const needed = new Set<string>();
  const follow = (file: string) => {
    if (needed.has(file)) return;
    needed.add(file);
    const text = readFileSync(file, "utf8");
    for (const [, , path] of text.matchAll(/(from|import)\s*\(?\s*"(\.[^"]+)\.js"/g)) {
      follow(resolve(dirname(file), `${path}.d.ts`));
    }
  };
  for (const name of ["index.d.ts", "shared/index.d.ts"]) {
    follow(join(js, name));
  }
  for (const file of needed) {
    const to = join(dist, "types", relative(js, file));
    mkdirSync(dirname(to), { recursive: true });
    cpSync(file, to);
  }
  rmSync(made, { recursive: true });
}
