/** Run by `memory.test.ts` as a program of its own: what is left of breakers that nobody holds. */

import { moduleBytes } from "./module.js";
import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { CircuitBreaker, CircuitOpenError, KeyedCircuitBreakers } from "breaker-wasm";
import { Down, Held, ended, fail, succeed } from "../support.js";
import { collected, isCollected, isHeld } from "./collected.js";

const ROUNDS = 20;

/** Bytes of the module after each round, all garbage of the round collected. */
async function rounds(
  breakers: number,
  make: (name: string) => WeakRef<object> | Promise<WeakRef<object>>,
): Promise<number[]> {
  const bytes: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    let last: WeakRef<object> | undefined;
    for (let n = 0; n < breakers; n += 1) last = await make(`h${n}`);
    assert.ok(last && (await isCollected(last)), "the last one is still held");
    bytes.push(moduleBytes());
  }
  return bytes;
}

/** It grows no more once rounds have found their room, also where finalizers run a little late. */
function assertSteady(bytes: number[]): void {
  assert.ok(bytes.length === ROUNDS && bytes.at(-1) === bytes[ROUNDS / 2], bytes.join(" "));
}

describe("breakers that nobody holds give their slots back", () => {
  test("made and dropped", async () => {
    assertSteady(await rounds(10_000, (name) => new WeakRef(new CircuitBreaker({ name }))));
  });

  test("with windows, which are larger", async () => {
    const window = { failureRate: 0.5, window: 1000 };
    assertSteady(
      await rounds(2_000, (name) => new WeakRef(new CircuitBreaker({ name, ...window }))),
    );
  });

  test("after calls, plain and guarded, and an opening", async () => {
    assertSteady(
      await rounds(1_000, async (name) => {
        const breaker = new CircuitBreaker({ name, threshold: 1, fallback: () => 0 });
        await breaker.wrap(succeed)();
        await breaker.call(succeed, { timeout: "1s" });
        await breaker.call(fail);
        assert.equal(breaker.state, "open");
        return new WeakRef(breaker);
      }),
    );
  });

  test("with listeners, also one that holds its breaker", async () => {
    assertSteady(
      await rounds(2_000, (name) => {
        const breaker = new CircuitBreaker({ name });
        breaker.on("open", () => breaker.state);
        return new WeakRef(breaker);
      }),
    );
  });

  test("of keys, with their group", async () => {
    let keys = new KeyedCircuitBreakers({ name: "keys" });
    assertSteady(
      await rounds(10_000, (name) => {
        if (name === "h0") keys = new KeyedCircuitBreakers({ name: "keys" });
        const breaker = new WeakRef(keys.get(name));
        if (name === "h9999") keys = new KeyedCircuitBreakers({ name: "keys" });
        return breaker;
      }),
    );
  });

  test("groups of keys, which have one of their own", async () => {
    assertSteady(await rounds(2_000, (name) => new WeakRef(new KeyedCircuitBreakers({ name }))));
  });

  test("of keys that were given up, also where somebody had them", async () => {
    const keys = new KeyedCircuitBreakers({ name: "keys", maxKeys: 10 });
    let round = 0;
    assertSteady(
      await rounds(10_000, (name) => {
        const last = new WeakRef(keys.get(`${name} of ${(round += 1)}`));
        if (name === "h9999") for (let n = 0; n < 20; n += 1) keys.get(`last ${n}`);
        return last;
      }),
    );
  });

  test("of keys that were given up, with listeners of their own that hold them", async () => {
    const keys = new KeyedCircuitBreakers({ name: "keys", maxKeys: 10 });
    let round = 0;
    assertSteady(
      await rounds(2_000, (name) => {
        const breaker = keys.get(`${name} of ${(round += 1)}`);
        breaker.on("open", () => breaker.state);
        if (name === "h1999") for (let n = 0; n < 20; n += 1) keys.get(`last ${n}`);
        return new WeakRef(breaker);
      }),
    );
  });

  test("of keys for which there was no place", async () => {
    const keys = new KeyedCircuitBreakers({ name: "keys", maxKeys: 1 });
    keys.get("only").forceOpen();
    assertSteady(await rounds(2_000, (name) => new WeakRef(keys.get(name))));
  });
});

describe("a breaker in use is held", () => {
  /** Takes the slots of breakers that are held by nobody, and opens them. */
  async function others(): Promise<CircuitBreaker[]> {
    const breakers = Array.from({ length: 100 }, () => new CircuitBreaker({ name: "other" }));
    for (const breaker of breakers) breaker.disable();
    return breakers;
  }

  test("by a function that was wrapped", async () => {
    let breaker: CircuitBreaker | undefined = new CircuitBreaker({ name: "pms", threshold: 1 });
    const reference = new WeakRef(breaker);
    const guarded = breaker.wrap(fail);
    breaker = undefined;
    assert.ok(await isHeld(reference));
    const after = await others();
    await ended(guarded());
    assert.ok((await ended(guarded())) instanceof CircuitOpenError);
    assert.ok(after.every(({ state }) => state === "disabled"));
  });

  for (const options of [{}, { timeout: "1h", probeTimeout: "1h" }]) {
    test(`by a call under way (${JSON.stringify(options)})`, async () => {
      const slow = new Held();
      const opened: unknown[] = [];
      const { reference, call } = (() => {
        const breaker = new CircuitBreaker({ name: "pms", threshold: 1, ...options });
        breaker.on("open", ({ generation }) => opened.push(generation));
        return { reference: new WeakRef(breaker), call: ended(breaker.call(slow.run)) };
      })();
      assert.ok(await isHeld(reference));
      const after = await others();
      slow.reject(new Down());
      assert.ok((await call) instanceof Down);
      assert.deepEqual(opened, [1]);
      assert.ok(after.every(({ state }) => state === "disabled"));
    });
  }

  test("by nobody once that call has ended, however long its answer is held", async () => {
    const { reference, answer } = await (async () => {
      const breaker = new CircuitBreaker({ name: "pms" });
      return { reference: new WeakRef(breaker), answer: await breaker.call(async () => ({})) };
    })();
    assert.ok(await isCollected(reference));
    assert.deepEqual(answer, {});
  });

  test("by its group, and the group by a function that was wrapped", async () => {
    const { references, guarded } = (() => {
      const keys = new KeyedCircuitBreakers({ name: "keys", threshold: 1 });
      return {
        references: [new WeakRef(keys.get("a")), new WeakRef(keys)],
        guarded: keys.wrap(fail, () => "a"),
      };
    })();
    for (const reference of references) assert.ok(await isHeld(reference));
    const after = await others();
    await ended(guarded());
    assert.ok((await ended(guarded())) instanceof CircuitOpenError);
    assert.ok(after.every(({ state }) => state === "disabled"));
  });

  test("without its group, which gave it its settings", async () => {
    const { group, breaker } = (() => {
      const keys = new KeyedCircuitBreakers({ name: "keys", threshold: 2, reset: "7s", jitter: 0 });
      return { group: new WeakRef(keys), breaker: keys.get("a") };
    })();
    assert.ok(await isCollected(group));
    await others();
    await ended(breaker.call(fail));
    assert.equal(breaker.state, "closed");
    await ended(breaker.call(fail));
    const error = await ended(breaker.call(succeed));
    assert.ok(error instanceof CircuitOpenError && error.retryAfter! > 6000);
  });

  test("by a call of a key that was given up meanwhile, whose slot nobody else has", async () => {
    const keys = new KeyedCircuitBreakers({ name: "keys", threshold: 1, maxKeys: 1 });
    const slow = new Held();
    const call = ended(keys.call("a", slow.run));
    for (let n = 0; n < 100; n += 1) await keys.call(`h${n}`, succeed);
    await collected(() => false);
    const after = Array.from({ length: 100 }, () => new CircuitBreaker({ name: "other" }));
    const opened: unknown[] = [];
    keys.on("open", ({ key }) => opened.push(key));
    slow.reject(new Down());
    await call;
    assert.deepEqual(opened, ["a"]);
    assert.ok(after.every(({ state }) => state === "closed"));
  });
});

describe("what listens is let go", () => {
  test("a listener, by the function that ends it", async () => {
    const breaker = new CircuitBreaker({ name: "pms" });
    const listeners = ["open", "outcome", "keyEvicted"].map((type) => {
      const listener = () => {};
      breaker.on(type as "open", listener)();
      return new WeakRef(listener);
    });
    for (const listener of listeners) assert.ok(await isCollected(listener));
  });

  test("that of a signal, however the call ended", async () => {
    const { signal } = new AbortController();
    const breaker = new CircuitBreaker({ name: "pms", threshold: 1000 });
    const keys = new KeyedCircuitBreakers({ name: "keys", threshold: 1000 });
    const functions: (() => unknown)[] = [succeed, fail, () => 1, () => assert.fail()];
    for (const f of functions) {
      await ended(breaker.call(f, { signal }));
      await ended(breaker.call(f, { signal, timeout: "1s" }));
      await ended(keys.call("a", f, { signal }));
    }
    await ended(breaker.call(new Held().run, { signal, timeout: 1 }));
    breaker.forceOpen();
    await ended(breaker.call(succeed, { signal }));
    assert.deepEqual(getEventListeners(signal, "abort"), []);
  });

  test("a timer, once the call has ended", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout");
    const before = timers();
    const breaker = new CircuitBreaker({ name: "pms", timeout: "1m", threshold: 1000 });
    const controller = new AbortController();
    const held = Array.from({ length: 4 }, () => new Held());
    const [one, two, three, four] = held as [Held, Held, Held, Held];
    const calls = [one, two, three].map((each) => ended(breaker.call(each.run)));
    calls.push(ended(breaker.call(four.run, { signal: controller.signal })));
    await collected(() => timers().length > before.length);
    one.resolve(1);
    two.reject(new Down());
    three.resolve(undefined);
    controller.abort();
    await Promise.all(calls);
    assert.deepEqual(timers(), before);
  });
});
