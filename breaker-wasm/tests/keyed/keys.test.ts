/** Keys: what can be one, what tells them apart, and what is said of one that is none. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CircuitOpenError, type Events, type Key, KeyedCircuitBreakers } from "breaker-wasm";
import { Down, ManualClock, ended, fail, succeed } from "../support.js";

const hosts = <K extends Key = string>(maxKeys?: number): KeyedCircuitBreakers<K> =>
  new KeyedCircuitBreakers<K>({
    name: "hosts",
    threshold: 1,
    clock: new ManualClock().read,
    maxKeys,
  });

describe("keys", () => {
  test("of different types are different keys", async () => {
    const keys: Key[] = ["1", 1, 1n, true, "true", "", "1n", 0, false, "0", "NaN", "undefined"];
    for (const tripped of keys) {
      const breakers = hosts<Key>();
      await ended(breakers.call(tripped, fail));
      for (const key of keys) {
        const breaker = breakers.get(key);
        assert.equal(breaker.state, key === tripped ? "open" : "closed", String(tripped));
        assert.equal(breaker.key, key);
      }
      assert.equal(breakers.size, keys.length);
    }
  });

  test("NaN is one key, and so are 0 and -0", async () => {
    const breakers = hosts<number>();
    await ended(breakers.call(NaN, fail));
    await ended(breakers.call(-0, fail));
    for (const key of [NaN, Number("none"), 0, -0]) {
      assert.ok((await ended(breakers.call(key, succeed))) instanceof CircuitOpenError);
    }
    assert.deepEqual(
      [...breakers].map(([key]) => key),
      [NaN, 0],
    );
  });

  test("text is compared by its units: nothing is normalised, and __proto__ is a key", () => {
    const breakers = hosts();
    const keys = ["é", "e\u0301", "A", "a", " a", "__proto__", "constructor", "\ud800", "\0"];
    const found = new Set(keys.map((key) => breakers.get(key)));
    assert.equal(found.size, keys.length);
    for (const key of keys) assert.ok(found.has(breakers.get(key)));
  });

  test("errors and events carry the key itself, and the group's name", async () => {
    for (const key of ["a.example", "", 7, 7n, false, NaN] as Key[]) {
      const breakers = hosts<Key>();
      const told: Events["stateChange" | "reject" | "outcome"][] = [];
      breakers.on("open", (event) => told.push(event as never));
      breakers.on("reject", (event) => told.push(event));
      breakers.on("outcome", (event) => told.push(event));
      await ended(breakers.call(key, fail));
      const error = await ended(breakers.call(key, succeed));
      assert.ok(error instanceof CircuitOpenError);
      assert.ok(Object.is(error.key, key));
      assert.equal(error.breaker, "hosts");
      assert.ok(error.message.startsWith(`circuit \`hosts[${String(key)}]\` is open`));
      assert.deepEqual(
        told.map(({ type, breaker, generation, sequence }) => ({
          ...{ type, breaker, generation, sequence },
        })),
        [
          { type: "open", breaker: "hosts", generation: 1, sequence: 1 },
          { type: "outcome", breaker: "hosts", generation: 0, sequence: 2 },
          { type: "reject", breaker: "hosts", generation: 1, sequence: 3 },
        ],
      );
      for (const event of told) assert.ok(Object.is(event.key, key));
    }
  });

  test("name, key and generation are a breaker's own", () => {
    const breakers = hosts();
    assert.equal(breakers.name, "hosts");
    const breaker = breakers.get("a");
    assert.equal(breaker.name, "hosts");
    assert.equal(breaker.key, "a");
    breaker.forceOpen();
    assert.equal(breaker.generation, 1);
    assert.equal(breakers.get("b").generation, 0);
    assert.equal(breakers.get("a"), breaker);
  });

  test("an operator's call is for one key, a listener for all", async () => {
    const breakers = hosts();
    const opened: unknown[] = [];
    const off = breakers.on("stateChange", ({ key, to }) => opened.push([key, to]));
    breakers.get("a").forceOpen();
    breakers.get("b").openFor("1s");
    off();
    breakers.get("c").forceOpen();
    assert.deepEqual(opened, [
      ["a", "forced_open"],
      ["b", "open"],
    ]);
    assert.equal(await breakers.call("d", succeed), "fresh");
  });
});

/** No keys, and what their type is called. */
const WRONG: [unknown, string][] = [
  [undefined, "undefined"],
  [null, "object"],
  [{}, "object"],
  [["a"], "object"],
  [new String("a"), "object"],
  [Promise.resolve("a"), "object"],
  [Symbol("a"), "symbol"],
  [() => "a", "function"],
];

describe("what is no key", () => {
  const message = (type: string) =>
    `circuit \`hosts\`: a key is of type ${type}: expected text, a number, a bigint or a boolean`;

  test("is refused with a TypeError, and nothing is called, kept or counted", async () => {
    for (const [key, type] of WRONG) {
      const breakers = hosts();
      const told: unknown[] = [];
      breakers.on("outcome", (event) => told.push(event));
      let calls = 0;
      const f = () => {
        calls += 1;
      };
      assert.throws(() => breakers.get(key as string), new TypeError(message(type)));
      for (const call of [
        breakers.call(key as string, f),
        breakers.wrap(f, () => key as string)(),
        breakers.wrap(f, () => key as string, { fallback: () => "stale" })(),
      ]) {
        assert.ok(call instanceof Promise);
        const error = await ended(call);
        assert.ok(error instanceof TypeError);
        assert.equal(error.message, message(type));
      }
      assert.equal(calls, 0);
      assert.equal(breakers.size, 0);
      assert.deepEqual(told, []);
    }
  });

  test("an async key function gives none: it must be there at once", async () => {
    const breakers = hosts();
    const guarded = breakers.wrap(succeed, (async () => "a") as never);
    const error = await ended(guarded());
    assert.ok(error instanceof TypeError);
    assert.equal(error.message, message("object"));
  });

  test("a key function that throws rejects with what it threw, and nothing is counted", async () => {
    const breakers = hosts();
    let calls = 0;
    const down = new Down();
    const guarded = breakers.wrap(
      (_key: string) => {
        calls += 1;
      },
      (key) => {
        if (key === "") throw down;
        return key;
      },
      { fallback: () => "stale" },
    );
    const call = guarded("");
    assert.ok(call instanceof Promise);
    assert.equal(await ended(call), down);
    assert.equal(calls, 0);
    assert.equal(breakers.size, 0);
    await guarded("a");
    assert.equal(calls, 1);
    assert.equal(breakers.get("a").state, "closed");
  });

  test("the key function gets what the function gets", async () => {
    const breakers = hosts();
    const seen: unknown[][] = [];
    const guarded = breakers.wrap(
      async (...args: unknown[]) => args,
      (...args) => {
        seen.push(args);
        return "a";
      },
    );
    assert.deepEqual(await guarded(1, undefined, "three"), [1, undefined, "three"]);
    await guarded();
    assert.deepEqual(seen, [[1, undefined, "three"], []]);
  });

  test("what isn't called rejects: the key is there, nothing is counted", async () => {
    const breakers = hosts();
    const error = await ended(breakers.call("a", 5 as never));
    assert.ok(error instanceof TypeError);
    assert.match(error.message, /^circuit `hosts`: the call is 5: expected a function$/);
    assert.equal(breakers.get("a").state, "closed");
    const options = await ended(breakers.call("a", succeed, { timeout: NaN }));
    assert.ok(options instanceof TypeError);
    assert.match(options.message, /timeout is NaN/);
  });
});
