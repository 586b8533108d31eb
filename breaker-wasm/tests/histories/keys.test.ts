/**
 * Random histories of more keys than there is room for: each key that is remembered does as the
 * contract's model says, and what is given up is what may be. `HISTORIES` and `HISTORY_SEED` as in
 * `histories.test.ts`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitBreaker, CircuitOpenError, KeyedCircuitBreakers } from "breaker-wasm";
import fc from "fast-check";
import { Held, ManualClock, ended } from "../support.js";
import { type Ending, Model, type Order, type Rules } from "./model.js";
import { RUNS, ending, order } from "./random.js";

const RULES: Rules = {
  trips: { threshold: 2 },
  reset: 100,
  backoff: 2,
  maxReset: 400,
  probes: 1,
  closes: { after: 1 },
  probeTimeout: 100,
  cancelFails: false,
};

type Step =
  | { do: "call" | "get"; key: number }
  | { do: "settle"; which: number; ending: Ending }
  | { do: "operate"; key: number; order: Order }
  | { do: "step"; by: number };

class Ended extends Error {
  constructor(readonly ending: Ending) {
    super("as the history says");
  }
}

/** A key, and what should become of it. */
class Known {
  readonly model = new Model(RULES);
  inFlight = 0;
}

class Keys {
  readonly #clock = new ManualClock();
  readonly #keys: KeyedCircuitBreakers<number>;
  readonly #known = new Map<number, Known>();
  readonly #calls: { known: Known; generation: number; held: Held; ended: Promise<unknown> }[] = [];
  /** They take the places that others give back, and must never be touched by them. */
  readonly #others: CircuitBreaker[] = [];
  #told: { evicted: number[]; full: number[] } = { evicted: [], full: [] };

  constructor(private readonly maxKeys: number) {
    this.#keys = new KeyedCircuitBreakers<number>({
      name: "keys",
      threshold: 2,
      reset: 100,
      backoff: 2,
      maxReset: 400,
      probeTimeout: 100,
      jitter: 0,
      maxKeys,
      clock: this.#clock.read,
      classify: (error: unknown) => (error instanceof Ended ? error.ending : true),
    });
    this.#keys.on("keyEvicted", ({ key }) => this.#told.evicted.push(key as number));
    this.#keys.on("keysFull", ({ key }) => this.#told.full.push(key as number));
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      await this.#step(step);
      assert.equal(this.#keys.size, this.#known.size);
      assert.ok(this.#keys.size <= this.maxKeys);
      const other = new CircuitBreaker({ name: "other" });
      other.disable();
      this.#others.push(other);
    }
    for (const { state, generation } of this.#others) {
      assert.deepEqual([state, generation], ["disabled", 1]);
    }
    for (const [key, breaker] of this.#keys) {
      const known = this.#known.get(key);
      assert.ok(known, `${key} is remembered`);
      assert.equal(breaker.state, known.model.state);
      assert.equal(breaker.generation, known.model.generation);
      assert.deepEqual(breaker.snapshot(), known.model.snapshot(this.#clock.now));
      assert.equal(this.#keys.get(key), breaker);
    }
  }

  async #step(step: Step): Promise<void> {
    switch (step.do) {
      case "step":
        this.#clock.now += step.by;
        return;
      case "get":
        assert.equal(this.#keys.get(step.key).key, step.key);
        this.#asked(step.key);
        return;
      case "operate": {
        const { key, order } = step;
        const breaker = this.#keys.get(key);
        if (typeof order === "object") breaker.openFor(order.openFor);
        else breaker[order]();
        return this.#asked(key).model.operate(order, this.#clock.now);
      }
      case "call":
        return this.#call(step.key);
      case "settle": {
        const [call] = this.#calls.splice(step.which % (this.#calls.length || 1), 1);
        if (!call) return;
        if (step.ending === "success") call.held.resolve("fresh");
        else call.held.reject(new Ended(step.ending));
        await call.ended;
        call.known.inFlight -= 1;
        call.known.model.settle(call.generation, step.ending, 0, this.#clock.now);
      }
    }
  }

  async #call(key: number): Promise<void> {
    const held = new Held();
    const call = ended(this.#keys.call(key, held.run));
    const known = this.#asked(key);
    const wanted = known.model.admit(this.#clock.now);
    if (typeof wanted === "number") {
      assert.equal(held.calls, 1);
      known.inFlight += 1;
      this.#calls.push({ known, generation: wanted, held, ended: call });
    } else {
      assert.equal(held.calls, 0);
      const error = await call;
      assert.ok(error instanceof CircuitOpenError);
      assert.equal(error.key, key);
      assert.deepEqual({ reason: error.reason, retryAfter: error.retryAfter }, wanted);
    }
  }

  /** A key was asked for: what had to be given up for it, and whether that was told. */
  #asked(key: number): Known {
    const { evicted, full } = this.#told;
    this.#told = { evicted: [], full: [] };
    const known = this.#known.get(key);
    if (known) {
      assert.deepEqual([evicted, full], [[], []]);
      return known;
    }
    const fresh = new Known();
    const closed = [...this.#known.values()].filter(({ model }) => model.state === "closed");
    if (this.#known.size < this.maxKeys) {
      assert.deepEqual([evicted, full], [[], []]);
    } else if (closed.length === 0) {
      assert.deepEqual([evicted, full], [[], [key]]);
      return fresh;
    } else {
      assert.equal(evicted.length, 1);
      assert.deepEqual(full, []);
      const [victim] = evicted as [number];
      const lost = this.#known.get(victim);
      assert.ok(lost && closed.includes(lost), "what is not closed was given up");
      const busy = closed.every(({ inFlight }) => inFlight > 0);
      assert.ok(busy || lost.inFlight === 0, "one with a call under way was given up");
      this.#known.delete(victim);
    }
    this.#known.set(key, fresh);
    return fresh;
  }
}

const key = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("call" as const), key }) },
  {
    weight: 7,
    arbitrary: fc.record({ do: fc.constant("settle" as const), which: fc.nat(5), ending }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("get" as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("operate" as const), key, order }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("step" as const),
      by: fc.constantFrom(1, 99, 100, 400),
    }),
  },
);
const history = fc.array(step, { minLength: 1, maxLength: 120, size: "max" });

test("random histories of more keys than there is room for", () =>
  fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), history, (maxKeys, steps) =>
      new Keys(maxKeys).play(steps),
    ),
    RUNS,
  ));
