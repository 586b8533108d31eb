/** Plays a history on a breaker of the package and on the model, and compares after each step. */

import assert from "node:assert/strict";
import {
  type BreakerOptions,
  CircuitBreaker,
  CircuitOpenError,
  type EventType,
  type Outcome,
} from "breaker-wasm";
import { ManualClock } from "../support.js";
import { type Change, type Ending, Model, type Order, type Rules, type Told } from "./model.js";

export type Step =
  | { do: "call" }
  /** `which`: of the calls in flight, counted round. */
  | { do: "settle"; which: number; ending: Ending }
  | { do: "step"; by: number }
  | { do: "back"; by: number }
  | { do: "operate"; order: Order }
  | { do: "keep" }
  | { do: "restore" };

/** A way through the breaker that a call may take. */
export const WAYS = ["plain", "watched", "guarded", "wrap"] as const;
export type Way = (typeof WAYS)[number];

/** A call that was admitted. */
interface InFlight {
  generation: number;
  since: number;
  end(ending: Ending): Promise<void>;
}

class Ended extends Error {
  constructor(readonly outcome: Outcome) {
    super("as the history says");
  }
}

const TOLD: EventType[] = ["stateChange", "wouldTrip", "reject", "open", "halfOpen", "close"];
const OF_STATE: Record<string, string> = { open: "open", half_open: "halfOpen", closed: "close" };

export class Driver {
  readonly #clock = new ManualClock();
  readonly #breaker: CircuitBreaker;
  readonly #model: Model;
  readonly #events: Record<string, unknown>[] = [];
  #inFlight: InFlight[] = [];
  #kept = undefined as { real: ReturnType<CircuitBreaker["snapshot"]> } | undefined;

  constructor(
    rules: Rules,
    private readonly way: Way,
    private readonly reached: Set<string>,
  ) {
    this.#model = new Model(rules);
    this.#breaker = new CircuitBreaker({
      ...options(rules),
      clock: this.#clock.read,
      classify: (error: unknown) => (error instanceof Ended ? error.outcome : true),
    });
    for (const type of way === "watched" ? [...TOLD, "outcome" as const] : TOLD) {
      this.#breaker.on(type, (event) => this.#events.push({ ...event }));
    }
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const [index, step] of steps.entries()) {
      try {
        await this.#step(step);
        this.#compare();
      } catch (error) {
        const where = `step ${index} (${JSON.stringify(step)}) at ${this.#clock.now}`;
        throw new Error(`${where}: ${String(error)}`, { cause: error });
      }
    }
  }

  async #step(step: Step): Promise<void> {
    const clock = this.#clock;
    switch (step.do) {
      case "call":
        return this.#call();
      case "settle": {
        const { length } = this.#inFlight;
        if (length) await this.#settle(step.which % length, step.ending);
        return;
      }
      case "step":
        clock.now += step.by;
        return;
      case "back":
        clock.now = Math.max(0, clock.now - step.by);
        return;
      case "operate":
        this.#operate(step.order);
        return this.#model.operate(step.order, clock.now);
      case "keep":
        this.#kept = { real: this.#breaker.snapshot() };
        return;
      case "restore":
        if (this.#kept) {
          this.#breaker.restore(this.#kept.real);
          this.#model.restore(this.#kept.real, clock.now);
        }
    }
  }

  async #call(): Promise<void> {
    const since = this.#clock.now;
    let started: { resolve(): void; reject(error: unknown): void } | undefined;
    const work = (): Promise<void> =>
      new Promise((resolve, reject) => {
        started = { resolve, reject };
      });
    const call = this.#through(work);
    const wanted = this.#model.admit(since);
    if (typeof wanted === "number") {
      assert.ok(started, "it was refused");
      const { resolve, reject } = started;
      this.#inFlight.push({
        generation: wanted,
        since,
        async end(ending) {
          if (ending === "success") resolve();
          else reject(new Ended(ending));
          await call.catch(() => {});
        },
      });
    } else {
      assert.equal(started, undefined, "it was admitted");
      const error: unknown = await call.catch((error: unknown) => error);
      assert.ok(error instanceof CircuitOpenError);
      const { reason, retryAfter } = error;
      assert.deepEqual({ reason, retryAfter }, wanted);
    }
  }

  #through(work: () => Promise<void>): Promise<void> {
    const breaker = this.#breaker;
    switch (this.way) {
      case "plain":
      case "watched":
        return breaker.call(work);
      case "guarded":
        return breaker.call(work, { signal: new AbortController().signal, fallback: () => {} });
      case "wrap":
        return breaker.wrap(work)();
    }
  }

  async #settle(index: number, ending: Ending): Promise<void> {
    const [call] = this.#inFlight.splice(index, 1) as [InFlight];
    const { now } = this.#clock;
    const took = Math.max(now - call.since, 0);
    const before = this.#model.state;
    const told = this.#events.length;
    await call.end(ending);
    const late = this.#model.settle(call.generation, ending, took, now);
    if (late) this.reached.add("late");
    if (this.way === "watched") {
      // The contract leaves open what an operator's state makes of it.
      const outcome = this.#events.splice(told).filter((event) => {
        if (event["type"] !== "outcome") this.#events.push(event);
        return event["type"] === "outcome";
      });
      assert.equal(outcome.length, 1);
      const said = outcome[0]!;
      assert.equal(said["outcome"], typeof ending === "object" ? "overloaded" : ending);
      assert.equal(said["generation"], call.generation);
      if (before !== "disabled") assert.equal(said["late"], late, "late");
    }
  }

  #operate(order: Order): void {
    if (typeof order === "object") this.#breaker.openFor(order.openFor);
    else this.#breaker[order]();
  }

  #compare(): void {
    const model = this.#model;
    assert.equal(this.#breaker.state, model.state, "state");
    assert.equal(this.#breaker.generation, model.generation, "generation");
    assert.deepEqual(this.#breaker.snapshot(), model.snapshot(this.#clock.now), "snapshot");
    const sequences = this.#events.map((event) => event["sequence"] as number);
    assert.deepEqual(
      sequences,
      [...sequences].sort((a, b) => a - b),
    );
    assert.deepEqual(this.#events.map(seen), model.told.flatMap(events));
    for (const told of model.told) this.reached.add(happened(told));
    this.#events.length = 0;
    model.told.length = 0;
  }
}

function happened(told: Told): string {
  return "refused" in told
    ? told.refused.reason
    : "changed" in told
      ? told.changed.trigger
      : "would trip";
}

/** What the model told, as the package's events say it. */
function events(told: Told): Record<string, unknown>[] {
  if ("refused" in told) {
    return [{ type: "reject", ...told.refused }];
  }
  if ("wouldTrip" in told) {
    return [{ type: "wouldTrip", ...told.wouldTrip }];
  }
  const change: Change = told.changed;
  const own = OF_STATE[change.to];
  const all = [{ type: "stateChange", ...change }];
  return own ? [...all, { type: own, ...change }] : all;
}

/** An event without what every event says. */
function seen(event: Record<string, unknown>): Record<string, unknown> {
  const { breaker, key, sequence: _, ...said } = event;
  assert.equal(breaker, "history");
  assert.equal(key, undefined);
  if (said["type"] === "reject") {
    const { reason, retryAfter } = said["error"] as CircuitOpenError;
    return { type: "reject", reason, retryAfter };
  }
  return said;
}

function options(rules: Rules): Omit<BreakerOptions, "clock"> {
  const { trips, closes, reset, backoff, maxReset, probes, probeTimeout, cancelFails } = rules;
  const share = ([part, whole]: readonly [number, number]): number => part / whole;
  return {
    name: "history",
    jitter: 0,
    reset,
    backoff,
    maxReset,
    probes,
    probeTimeout,
    onCancel: cancelFails ? "failure" : "ignore",
    ...("threshold" in trips
      ? { threshold: trips.threshold }
      : {
          failureRate: share(trips.failureRate),
          window: "calls" in trips.window ? trips.window.calls : `${trips.window.time}ms`,
          minCalls: trips.minCalls,
          ...(trips.slow && { slow: trips.slow.than, slowRate: share(trips.slow.rate) }),
        }),
    ...("after" in closes ? { closeAfter: closes.after } : { closeRate: share(closes.rate) }),
  };
}
