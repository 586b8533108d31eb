/** Durations are written as in the Rust attribute: the own tests of its parser are read here. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { CircuitBreaker, type CircuitOpenError } from "breaker-wasm";
import { ManualClock, breakerAt, ended, succeed, trip } from "./support.js";

const PARSER = new URL("../../breaker-text/src/duration.rs", import.meta.url);

/** What the attribute takes and refuses, of the tables in its parser's tests. */
function attribute(): { read: [text: string, nanos: bigint][]; refused: string[] } {
  const tests = readFileSync(PARSER, "utf8").split("mod tests")[1]!;
  const body = (name: string): string => {
    const [, after] = tests.split(`fn ${name}()`);
    assert.ok(after, name);
    return after.split("#[test]")[0]!;
  };
  const text = (rust: string): string =>
    JSON.parse(`"${rust.replace(/\\u\{(\w+)\}/g, (_, code) => `\\u${code.padStart(4, "0")}`)}"`);
  const pairs = /\("((?:[^"\\]|\\.)*)", ([\d_]+|u64::MAX|")/g;
  return {
    read: [...body("reads_what_people_write").matchAll(pairs)].map(([, written, nanos]) => [
      text(written!),
      nanos === "u64::MAX" ? 2n ** 64n - 1n : BigInt(nanos!.replaceAll("_", "")),
    ]),
    refused: [...body("says_what_to_write_instead").matchAll(pairs)].map(([, written]) =>
      text(written!),
    ),
  };
}

/** Finer than a nanosecond: rounded here, refused there, where text is exact. */
const ROUNDED = new Set(["1.5ns", "0.1234567891s", "0.000000000000000000000000000000000001d"]);

/** The milliseconds that a breaker makes of a duration. */
async function read(reset: string | number): Promise<number | undefined> {
  const breaker = breakerAt(new ManualClock(), { reset });
  await trip(breaker);
  return ((await ended(breaker.call(succeed))) as CircuitOpenError).retryAfter;
}

/** Whether it may be the wait of an operator's call, which may be none. */
const openFor = (wait: string): void => breakerAt(new ManualClock()).openFor(wait);

describe("durations", () => {
  const { read: accepted, refused } = attribute();

  test("mean what they mean in the attribute", async () => {
    assert.ok(accepted.length >= 19);
    for (const [text, nanos] of accepted) {
      if (nanos === 0n) {
        openFor(text);
      } else if (nanos < 2n ** 63n) {
        const millis = Number(nanos) / 1e6;
        const got = (await read(text)) ?? NaN;
        assert.ok(Math.abs(got - millis) <= 1e-6 + millis * 1e-15, `${text}: ${got}`);
      }
    }
  });

  test("are refused where the attribute refuses them", async () => {
    assert.ok(refused.length >= 40);
    for (const text of refused) {
      if (!ROUNDED.has(text)) {
        await assert.rejects(read(text), TypeError, JSON.stringify(text));
        assert.throws(() => openFor(text), TypeError, JSON.stringify(text));
      }
    }
  });

  test("too long for 64 bits of nanoseconds are refused", () => {
    for (const text of ["18446744073710s", "300000d", "99999999999999999999d", "1e400s"]) {
      assert.throws(() => new CircuitBreaker({ name: "pms", reset: text }), TypeError, text);
    }
    new CircuitBreaker({ name: "pms", reset: "18446744073s" });
  });

  test("are milliseconds where they are numbers", async () => {
    assert.equal(await read(1500), await read("1.5s"));
    assert.equal(await read(0.25), await read("250us"));
  });

  test("a text without end is refused as any other", () => {
    const texts = ["1".repeat(1e5), "1.".repeat(5e4), "1m".repeat(5e4), `${"9".repeat(1e5)}s`];
    for (const text of texts) {
      assert.throws(() => openFor(text), TypeError);
    }
  });
});
