/** Plays a case on a breaker of the package, and compares. */

import assert from "node:assert/strict";
import { CircuitBreaker, CircuitOpenError, type Outcome, type Snapshot } from "breaker-wasm";
import type { Case, Config, Expect, Step } from "./case.js";
import { options } from "./config.js";

/** A call that was admitted, and how to end it. */
interface Permit {
  end(how: Outcome | "panic"): Promise<void>;
}

/** What a call throws that is to be judged as this. */
class Ending extends Error {
  constructor(readonly outcome: Outcome) {
    super("as the case says");
  }
}

const ASKS = new Set(["acquire", "success", "failure", "ignored", "cancel", "panic", "overloaded"]);

export class Player {
  #now = 0;
  #breaker: CircuitBreaker;
  #permits = new Map<string, Permit>();
  #snapshots = new Map<string, Snapshot>();
  /** What the last outcome did. */
  #late = false;
  #tripped = false;
  #rejection: CircuitOpenError | undefined;

  /** `watched`: somebody listens to the outcome of each call, which takes another way. */
  constructor(
    private readonly played: Case,
    private readonly watched: boolean,
  ) {
    this.#breaker = this.#build(played.config ?? { threshold: 5, reset_ms: 30_000 });
  }

  async play(): Promise<void> {
    for (const [index, step] of this.played.steps.entries()) {
      try {
        await this.#step(step);
      } catch (error) {
        const where = `${this.played.source}: ${this.played.name}: step ${index} (${JSON.stringify(step)})`;
        throw new Error(`${where}: ${String(error)}`, { cause: error });
      }
    }
  }

  #build(config: Config): CircuitBreaker {
    const breaker = new CircuitBreaker({
      ...options(config),
      clock: () => this.#now,
      classify: (error: unknown) => (error instanceof Ending ? error.outcome : true),
    });
    const tripped = (): void => {
      this.#tripped = true;
    };
    breaker.on("wouldTrip", tripped);
    breaker.on("open", ({ trigger }) => {
      if (trigger !== "operator" && trigger !== "restored") {
        tripped();
      }
    });
    if (this.watched) {
      breaker.on("outcome", ({ late }) => {
        this.#late = late;
      });
    }
    return breaker;
  }

  async #step(step: Step): Promise<void> {
    const expect = step.expect ?? {};
    for (let time = 0; time < (step.n ?? 1); time += 1) {
      this.#now = step.at_ms;
      this.#late = false;
      this.#tripped = false;
      this.#rejection = undefined;
      await this.#do(step, expect);
      if (ASKS.has(step.op) && step.of === undefined) {
        assert.equal(this.#rejection === undefined, expect.admitted ?? true, "admitted");
      }
    }
    this.#compare(expect);
  }

  async #do(step: Step, expect: Expect): Promise<void> {
    const breaker = this.#breaker;
    switch (step.op) {
      case "acquire": {
        const permit = await this.#acquire();
        if (permit && step.id !== undefined) {
          this.#permits.set(step.id, permit);
        }
        return;
      }
      case "state":
        return;
      case "force_open":
        return breaker.forceOpen();
      case "disable":
        return breaker.disable();
      case "shadow":
        return breaker.shadow();
      case "close":
        return breaker.close();
      case "reset":
        return breaker.clear();
      case "open_for":
        return breaker.openFor(step.for_ms!);
      case "snapshot": {
        const snapshot = breaker.snapshot();
        if (step.id !== undefined) {
          this.#snapshots.set(step.id, snapshot);
        }
        if (expect.snapshot) {
          const { state, timeLeft: left_ms, consecutive, reopenings } = snapshot;
          const taken: Record<string, unknown> = { state, left_ms, consecutive, reopenings };
          for (const [field, value] of Object.entries(expect.snapshot)) {
            assert.equal(taken[field], value, field);
          }
        }
        return;
      }
      case "restore":
        return this.#refused(expect, () => breaker.restore(this.#snapshot(step)));
      case "build":
        return this.#refused(expect, () => {
          this.#breaker = this.#build(step.config!);
          this.#permits.clear();
        });
      default: {
        const permit = step.of === undefined ? await this.#acquire() : this.#permits.get(step.of);
        if (permit) {
          this.#now += step.took_ms ?? 0;
          await permit.end(ending(step));
        }
      }
    }
  }

  #snapshot({ of, from }: Step): Snapshot {
    return of === undefined
      ? ({
          state: from?.state,
          timeLeft: from?.left_ms ?? 0,
          imposed: false,
          consecutive: from?.consecutive ?? 0,
          reopenings: from?.reopenings ?? 0,
        } as Snapshot)
      : this.#snapshots.get(of)!;
  }

  /** Does what must be refused with a `TypeError` if an error is expected, and else must not be. */
  #refused({ error }: Expect, work: () => void): void {
    if (error == null) {
      work();
    } else {
      assert.throws(work, TypeError, error);
    }
  }

  /** Asks for admission; the call runs until it is ended. */
  async #acquire(): Promise<Permit | undefined> {
    let permit: Permit | undefined;
    const call: Promise<unknown> = this.#breaker.call(
      () =>
        new Promise<void>((resolve, reject) => {
          permit = {
            end: async (how) => {
              if (how === "success") {
                resolve();
              } else {
                reject(how === "panic" ? new Error("unclassified") : new Ending(how));
              }
              await call.catch(() => {});
            },
          };
        }),
    );
    call.catch((error: unknown) => {
      if (error instanceof CircuitOpenError) {
        this.#rejection = error;
      }
    });
    if (!permit) {
      await call.catch(() => {});
    }
    return permit;
  }

  #compare(expect: Expect): void {
    const { reason, retry_after_ms, state, late, tripped } = expect;
    if (reason !== undefined) {
      assert.equal(this.#rejection?.reason, reason, "reason");
    }
    if (retry_after_ms !== undefined) {
      assert.equal(this.#rejection?.retryAfter, retry_after_ms, "retryAfter");
    }
    if (state !== undefined) {
      assert.equal(this.#breaker.state, state, "state");
    }
    if (late !== undefined && this.watched) {
      assert.equal(this.#late, late, "late");
    }
    if (tripped !== undefined) {
      assert.equal(this.#tripped, tripped, "tripped");
    }
  }
}

function ending({ op, for_ms }: Step): Outcome | "panic" {
  switch (op) {
    case "success":
    case "failure":
    case "ignored":
    case "panic":
      return op;
    case "cancel":
      return "dropped";
    case "overloaded":
      return { overloaded: for_ms! };
    default:
      throw new Error(`unknown op: ${op}`);
  }
}
