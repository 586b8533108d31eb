import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot, packedFiles } from "./packed.js";

const WANTED = [
  /^package\.json$/,
  /^README\.md$/,
  /^dist\/breaker\.wasm$/,
  /^dist\/(node|web|worker|durable-object)\.js$/,
  /^dist\/chunk-[A-Z0-9]+\.js$/,
  /^dist\/types\/[\w/-]+\.d\.ts$/,
  /^dist\/LICENSE-(APACHE|MIT)$/,
];

test("what is packed is what users need", () => {
  const files = packedFiles();
  const unwanted = files.filter((path) => !WANTED.some((wanted) => wanted.test(path)));
  assert.deepEqual(unwanted, []);
  const missing = WANTED.filter((wanted) => !files.some((path) => wanted.test(path)));
  assert.deepEqual(missing, []);
});

test("whatever the package's manifest names is packed", () => {
  const files = packedFiles().map((path) => `./${path}`);
  const manifest = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));
  const named: string[] = [manifest.types, ...manifest.sideEffects];
  const collect = (target: unknown) => {
    if (typeof target === "string") named.push(target);
    else for (const inner of Object.values(target as object)) collect(inner);
  };
  collect(manifest.exports);
  assert.ok(named.length > 8);
  assert.deepEqual(
    named.filter((path) => !files.includes(path)),
    [],
  );
});

test("the package depends on nothing", () => {
  const manifest = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));
  for (const key of ["dependencies", "peerDependencies", "optionalDependencies", "scripts"]) {
    assert.equal(manifest[key], undefined, key);
  }
});

test("the module imports nothing, so that no glue is needed", () => {
  const bytes = readFileSync(join(packageRoot, "dist/breaker.wasm"));
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(bytes)), []);
});
