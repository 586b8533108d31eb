/** Where `Error` can't be changed, as in realms whose intrinsics are frozen. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { CircuitOpenError, TimeoutError } from "breaker-wasm";
import { Held, ManualClock, breakerAt, ended, succeed } from "./support.js";

const before = Object.getOwnPropertyDescriptor(Error, "stackTraceLimit")!;

/** While `Error.stackTraceLimit` is so; afterwards it must still say the same. */
async function withLimit(
  limit: PropertyDescriptor | undefined,
  work: () => Promise<void>,
): Promise<void> {
  delete (Error as { stackTraceLimit?: number }).stackTraceLimit;
  if (limit) Object.defineProperty(Error, "stackTraceLimit", { ...limit, configurable: true });
  const { stackTraceLimit } = Error;
  try {
    await work();
    assert.equal(Error.stackTraceLimit, stackTraceLimit);
  } finally {
    Object.defineProperty(Error, "stackTraceLimit", before);
  }
}

const LIMITS: [string, PropertyDescriptor | undefined][] = [
  ["is as it was", before],
  ["can't be written", { value: 7, writable: false, enumerable: true }],
  ["can be read only", { get: () => 7 }],
  [
    "throws when it is written",
    {
      get: () => 7,
      set() {
        throw new Error("hands off");
      },
    },
  ],
  ["isn't there", undefined],
];

describe("where `Error.stackTraceLimit`", () => {
  for (const [how, limit] of LIMITS) {
    test(`${how}, a refused call rejects as ever`, () =>
      withLimit(limit, async () => {
        const breaker = breakerAt(new ManualClock());
        breaker.forceOpen();
        for (const call of [breaker.call(succeed), breaker.wrap(succeed)()]) {
          const error = await ended(call);
          assert.ok(error instanceof CircuitOpenError, String(error));
          assert.equal(error.reason, "forced_open");
        }
        assert.equal(await breaker.call(succeed, { fallback: () => "stale" }), "stale");
      }));

    test(`${how}, a call times out as ever`, () =>
      withLimit(limit, async () => {
        const breaker = breakerAt(new ManualClock(), { timeout: 1 });
        assert.ok((await ended(breaker.call(new Held().run))) instanceof TimeoutError);
        assert.equal(breaker.state, "open");
      }));
  }
});

test("in a realm whose intrinsics are frozen, the package works", () => {
  const program = `
    import assert from "node:assert/strict";
    import { CircuitBreaker, CircuitOpenError, TimeoutError } from "breaker-wasm";
    assert.ok(Object.isFrozen(Error) && Object.isFrozen(Promise.prototype));
    const breaker = new CircuitBreaker({ name: "pms", threshold: 1, timeout: 1 });
    const told = [];
    breaker.on("stateChange", ({ to }) => told.push(to));
    await assert.rejects(breaker.call(() => new Promise(() => {})), TimeoutError);
    await assert.rejects(breaker.call(() => 1), (error) => {
      assert.ok(error instanceof CircuitOpenError);
      assert.equal(error.name, "CircuitOpenError");
      assert.match(error.message, /^circuit .pms. is open: retry in/);
      return true;
    });
    breaker.restore({ ...breaker.snapshot(), state: "closed", timeLeft: 0 });
    assert.equal(await breaker.wrap(async (x) => x)(5), 5);
    assert.deepEqual(told, ["open", "closed"]);
  `;
  const flags = ["--frozen-intrinsics", "--no-warnings", "--input-type=module", "--eval", program];
  const { status, stderr } = spawnSync(process.execPath, flags, {
    cwd: import.meta.dirname,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "" },
  });
  assert.equal(status, 0, stderr);
});
