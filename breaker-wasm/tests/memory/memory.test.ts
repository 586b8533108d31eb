/** Memory: of the module, which only grows, and of what nobody holds any more. */

import { moduleBytes } from "./module.js";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CircuitOpenError, KeyedCircuitBreakers } from "breaker-wasm";
import { ended, fail, succeed } from "../support.js";

test("what nobody holds is given back, where garbage is collected", () => {
  const program = fileURLToPath(new URL("forgotten.ts", import.meta.url));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const ran = spawnSync(
    process.execPath,
    ["--expose-gc", "--import", "tsx", "--test-reporter=tap", program],
    { encoding: "utf8", env },
  );
  assert.equal(ran.status, 0, `${ran.stdout}${ran.stderr}`);
  assert.match(ran.stdout, /^# fail 0$/m);
});

describe("a flood of 100,000 keys", () => {
  const KEYS = 100_000;
  const MAX = 1_000;

  for (const [kind, f, way] of [
    ["that answer", succeed, "call"],
    ["that each fail", fail, "wrap"],
  ] as const) {
    test(`${kind}, by ${way}: bounded without any garbage collected`, async () => {
      const keys = new KeyedCircuitBreakers({ name: "keys", threshold: 2, maxKeys: MAX });
      const guarded = keys.wrap(
        (_key: string) => f(),
        (key) => key,
      );
      const call = (key: string) => ended(way === "call" ? keys.call(key, f) : guarded(key));
      for (let n = 0; n < 2; n += 1) await ended(keys.call("down", fail));
      let evicted = 0;
      keys.on("keyEvicted", () => (evicted += 1));
      let most = 0;
      // Only microtasks run: so no finalizer does.
      for (let n = 0; n < MAX; n += 1) await call(`h${n}`);
      const before = moduleBytes();
      for (let n = MAX; n < KEYS; n += 1) {
        await call(`h${n}`);
        most = Math.max(most, keys.size);
      }
      assert.equal(most, MAX);
      assert.equal(evicted, KEYS - MAX + 1);
      assert.equal(moduleBytes(), before);
      assert.ok((await ended(keys.call("down", succeed))) instanceof CircuitOpenError);
    });
  }

  test("while every key is open: bounded as well, each call is made", async () => {
    const keys = new KeyedCircuitBreakers({ name: "keys", threshold: 1, maxKeys: MAX });
    for (let n = 0; n < MAX; n += 1) await ended(keys.call(`down${n}`, fail));
    let full = 0;
    keys.on("keysFull", () => (full += 1));
    const before = moduleBytes();
    for (let n = 0; n < KEYS; n += 1) assert.equal(await keys.call(`h${n}`, succeed), "fresh");
    assert.equal(full, KEYS);
    assert.equal(keys.size, MAX);
    assert.equal(moduleBytes(), before);
  });
});
