/** What listeners hear of. */

import type { CircuitOpenError, TimeoutError } from "./errors.js";
import type { OUTCOMES } from "./outcome.js";
import type { State, Trigger } from "./names.js";
import { show } from "./options.js";

/** What every event says. */
interface Common<Type extends string> {
  readonly type: Type;
  /** The name of the breaker. */
  readonly breaker: string;
  /** The key of the breaker, if it is one of many. */
  readonly key: unknown;
  /** The number of the breaker's entry into its state. */
  readonly generation: number;
  /** The number of the event, in the order in which they happened here. */
  readonly sequence: number;
}

/** The breaker entered a state. */
export interface StateChange<Type extends string = string> extends Common<Type> {
  readonly from: State;
  readonly to: State;
  readonly trigger: Trigger;
  /** Failures that led here. */
  readonly failures: number;
  /** Milliseconds that it stays open; `undefined` where it isn't open. */
  readonly wait: number | undefined;
}

/** Each event by its name. */
export interface Events {
  /** Any entry into a state, also by an operator. */
  stateChange: StateChange<"stateChange">;
  /** It opened. */
  open: StateChange<"open">;
  /** A probe is let through. */
  halfOpen: StateChange<"halfOpen">;
  /** It closed. */
  close: StateChange<"close">;
  /** In `shadow`: it would have opened. */
  wouldTrip: StateChange<"wouldTrip">;
  /** A call was refused. */
  reject: Common<"reject"> & { readonly error: CircuitOpenError };
  /** An admitted call ended. */
  outcome: Common<"outcome"> & {
    readonly outcome: (typeof OUTCOMES)[number];
    /** Milliseconds that it took; `undefined` where it began before anybody listened. */
    readonly duration: number | undefined;
    /** It was admitted in an earlier generation, and counts for nothing. */
    readonly late: boolean;
  };
  /** A fallback was served. */
  fallback: Common<"fallback"> & {
    readonly inPlaceOf: "rejected" | "timed_out" | "failed";
    readonly cause: CircuitOpenError | TimeoutError | unknown;
  };
  /** A key was given up for another one. */
  keyEvicted: Common<"keyEvicted">;
  /** No key could be given up: a call of a new key was made by a breaker that is not kept. */
  keysFull: Common<"keysFull">;
  /** The Durable Object of a shared circuit can't be reached: the isolate goes by itself. */
  sharingFailed: Common<"sharingFailed"> & { readonly cause: unknown };
}

export type EventType = keyof Events;
export type Listener<Type extends EventType> = (event: Events[Type]) => unknown;

const EVENTS: readonly string[] = [
  "stateChange",
  "open",
  "halfOpen",
  "close",
  "wouldTrip",
  "reject",
  "outcome",
  "fallback",
  "keyEvicted",
  "keysFull",
  "sharingFailed",
] satisfies EventType[];

/** The listeners of a breaker, or of a group of them. */
export class Listeners {
  readonly #of = new Map<string, Set<Listener<any>>>();
  /** What listeners have yet to hear; the first of it is being told. */
  readonly #untold: [
    listeners: Set<Listener<any>>,
    listener: Listener<any>,
    event: { type: EventType },
  ][] = [];
  #sequence = 0;
  /** Somebody wants to hear of the outcome of each call. */
  watched = false;
  /** What somebody is being told of. */
  telling: EventType | undefined;

  /** Whether anybody wants to hear of it, here or of one breaker alone. */
  has(type: EventType | undefined, alone?: Listeners): boolean {
    return this.#of.has(type!) || !!alone?.has(type);
  }

  add(type: EventType, listener: Listener<any>): () => void {
    if (!EVENTS.includes(type)) {
      throw new TypeError(`unknown event ${show(type)}: expected ${EVENTS.join(", ")}`);
    }
    if (typeof listener !== "function") {
      throw new TypeError(`the listener of ${type} is no function`);
    }
    const listeners = this.#of.get(type) ?? new Set();
    // Its own, so that one function may be added twice.
    const own: Listener<any> = (event) => listener(event);
    this.#of.set(type, listeners.add(own));
    this.watched = this.has("outcome");
    return () => {
      if (listeners.delete(own) && !listeners.size) {
        this.#of.delete(type);
        this.watched = this.has("outcome");
      }
    };
  }

  /**
   * Tells of what happened, under one name or two. What listeners do meanwhile is told of after it.
   * One that throws or rejects changes nothing; the console has it.
   */
  tell(type: EventType, event: object, also?: EventType, alone?: Listeners): void {
    const untold = this.#untold;
    const { length } = untold;
    for (const each of [type, also]) {
      if (this.has(each, alone)) {
        const told = { type: each!, ...event, sequence: ++this.#sequence };
        for (const of of [this, alone]) {
          const listeners = of && of.#of.get(each!);
          for (const own of listeners ?? []) {
            untold.push([listeners!, own, told]);
          }
        }
      }
    }
    if (!length) {
      for (const [listeners, own, told] of untold) {
        if (listeners.has(own)) {
          this.telling = told.type;
          new Promise((done) => done(own(told))).catch(console.error);
        }
      }
      this.telling = undefined;
      untold.length = 0;
    }
  }
}
