/**
 * Isolates and an object in this process, whose messages arrive when a history says so: an isolate is
 * a binding of its own. What happens is held against what sharing promises.
 */

import assert from "node:assert/strict";
import { CircuitOpenError, type State } from "breaker-wasm";
import {
  BreakerObject,
  type ObjectNamespace,
  type SharedOptions,
  sharedBreaker,
} from "breaker-wasm/durable-object";
import type { CircuitRecord } from "../../js/shared/record.js";
import { Down, idle } from "../support.js";

export const ISOLATES = [0, 1, 2] as const;
export type Ending = "success" | "failure" | "ignored";

/** Milliseconds of each isolate's clock when the history begins. */
const ORIGINS = [5, 1_000_000_007, 77_000];
const OBJECT_ORIGIN = 1_700_000_000_000;

/** So long that no timer of this process ends in a history. */
export const MAX_AGE = 3_600_000;

class Unknown extends Error {}

class ClockedObject extends BreakerObject {
  constructor(
    storage: ConstructorParameters<typeof BreakerObject>[0]["storage"],
    private readonly world: World,
  ) {
    super({ storage });
  }
  override now(): number {
    return OBJECT_ORIGIN + this.world.now;
  }
}

/** A message that is on its way, there or back. */
interface Post {
  /** When the isolate gives it up. */
  readonly until: number;
  readonly go: () => Promise<void> | void;
  readonly lose: () => void;
}

export class World {
  now = 0;
  readonly posts: Post[] = [];
  /** Guarded calls that have not ended. */
  readonly running: ((ending: Ending) => void)[] = [];
  /** What calls came to that was neither their own nor a refusal. */
  readonly wrong: unknown[] = [];
  made = 0;
  probes = 0;
  refused = 0;

  readonly #kept = new Map<string, unknown>();
  readonly #object: ClockedObject;
  readonly #namespaces: ObjectNamespace[];
  /** When the circuit began to let calls through, and when it ended to, at the object. */
  readonly #admitting: { since: number; until: number }[] = [{ since: 0, until: Infinity }];
  /** Whose the last lease is. */
  #leased: { isolate: number; number: number; until: number; overtaken: boolean } | undefined;
  /** When an isolate last closed it by itself. */
  readonly #closed = ISOLATES.map(() => -Infinity);
  /** An isolate goes by itself since its last talk failed. */
  readonly #alone = ISOLATES.map(() => false);
  #turn: Promise<unknown> = Promise.resolve();

  constructor(readonly options: SharedOptions) {
    const storage = {
      get: async (key: string) => structuredClone(this.#kept.get(key)),
      put: async (key: string, value: unknown) => void this.#kept.set(key, structuredClone(value)),
    };
    this.#object = new ClockedObject(storage, this);
    this.#namespaces = ISOLATES.map((isolate) => ({
      idFromName: (name) => name,
      get: () => ({ fetch: (url, init) => this.#post(isolate, url, init) }),
    }));
  }

  get record(): CircuitRecord | undefined {
    return this.#kept.get("circuit") as CircuitRecord | undefined;
  }

  /** A request in an isolate; `background`: it has a `waitUntil`. */
  breaker(isolate: number, background = true) {
    const breaker = sharedBreaker(
      this.#namespaces[isolate]!,
      "pms",
      {
        jitter: 0,
        maxAge: MAX_AGE,
        objectTimeout: MAX_AGE,
        classify: (error) => !(error instanceof Unknown),
        ...this.options,
        clock: () => ORIGINS[isolate]! + this.now,
      },
      background ? { waitUntil() {} } : undefined,
    );
    breaker.on("stateChange", ({ to, trigger }) => {
      if (to === "closed" && trigger === "recovered") this.#closed[isolate] = this.now;
    });
    breaker.on("sharingFailed", () => (this.#alone[isolate] = true));
    return breaker;
  }

  /** A call, which ends when the history says so. */
  call(isolate: number, background: boolean): void {
    const breaker = this.breaker(isolate, background);
    const ended = breaker.call(() => {
      this.made += 1;
      this.#judge(isolate, breaker.state);
      return new Promise<string>((resolve, reject) => {
        this.running.push((ending) => {
          if (ending === "success") resolve("fresh");
          else reject(ending === "failure" ? new Down() : new Unknown());
        });
      });
    });
    ended.catch((error: unknown) => {
      if (error instanceof CircuitOpenError) this.refused += 1;
      else if (!(error instanceof Down || error instanceof Unknown)) this.wrong.push(error);
    });
  }

  /** A call that is let through now: may it be? */
  #judge(isolate: number, state: State): void {
    if (this.#alone[isolate]) return;
    if (state === "half_open") {
      this.probes += 1;
      const { state, version } = this.record!;
      const leased = this.#leased;
      // Who went by itself may have decided meanwhile; the lease is none the less its owner's.
      const stands = leased?.overtaken || state === "half_open";
      this.#note(stands && leased!.until > this.now, "a probe without a lease");
      this.#note(
        leased?.isolate === isolate && (leased.overtaken || leased.number === version.number),
        "a probe with another's lease",
      );
      return;
    }
    const least = this.now - MAX_AGE;
    this.#note(
      this.#closed[isolate]! > least ||
        this.#admitting.some(({ since, until }) => since <= this.now && until > least),
      "a call that was stopped longer than the age ago",
    );
  }

  #note(right: boolean, what: string): void {
    if (!right) this.wrong.push(new Error(`${what}, at ${this.now}`));
  }

  #post(isolate: number, url: string, init: RequestInit): Promise<Response> {
    const until = this.now + MAX_AGE;
    return new Promise((resolve, reject) => {
      const lose = (): void => reject(new Error("lost"));
      const back = (answer: Response): void => {
        const go = (): void => {
          this.#alone[isolate] = false;
          resolve(answer);
        };
        this.posts.push({ until, go, lose });
      };
      const go = async (): Promise<void> => {
        // One message after the other, as the platform sees to.
        const answered = this.#turn.then(() => this.#object.fetch(new Request(url, init)));
        this.#turn = answered;
        const answer = await answered;
        this.#see(isolate, String(init.body), (await answer.clone().json()) as { done: boolean });
        back(answer);
      };
      this.posts.push({ until, go, lose });
    });
  }

  /** Time passes; what takes longer than an isolate waits for is lost. */
  async pass(ms: number): Promise<void> {
    this.now += ms;
    const late = this.posts.filter(({ until }) => until <= this.now);
    for (const post of late) {
      this.posts.splice(this.posts.indexOf(post), 1);
      post.lose();
    }
    await idle();
  }

  /** What the object did. */
  #see(isolate: number, message: string, { done }: { done: boolean }): void {
    const { state, version } = this.record!;
    if (done && message.includes('"lease"')) {
      const until = this.now + this.record!.lasts;
      this.#leased = { isolate, number: version.number, until, overtaken: false };
    } else if (done && this.#leased && this.#leased.isolate !== isolate) {
      this.#leased.overtaken ||= this.#alone[isolate]!;
    }
    const last = this.#admitting.at(-1)!;
    const admits = ["closed", "disabled", "shadow"].includes(state);
    if (!admits) last.until = Math.min(last.until, this.now);
    else if (last.until <= this.now) this.#admitting.push({ since: this.now, until: Infinity });
  }

  /** All that is on its way arrives, and all that follows from it; running calls succeed. */
  async settle(): Promise<void> {
    await idle();
    while (this.posts.length || this.running.length) {
      for (const end of this.running.splice(0)) end("success");
      for (const { go } of this.posts.splice(0)) await go();
      await idle();
    }
  }

  /** The dependency is well, and the object answers: all are closed before long. */
  async recovers(): Promise<void> {
    await this.settle();
    for (let round = 0; round < 60 && !this.#isClosed(); round += 1) {
      await this.pass(MAX_AGE);
      for (const isolate of ISOLATES) {
        this.call(isolate, true);
        await this.settle();
      }
    }
    assert.ok(this.#isClosed(), `it does not recover: ${JSON.stringify(this.record)}`);
  }

  #isClosed(): boolean {
    const states = ISOLATES.map((isolate) => this.breaker(isolate).state);
    return this.record?.state === "closed" && states.every((state) => state === "closed");
  }
}
