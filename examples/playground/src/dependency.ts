/** What the breaker guards: a server that answers, or fails in one of several ways. */

import type { World } from "./world.js";

export const BEHAVIOURS = ["healthy", "failing", "flaky", "slow", "hanging", "missing"] as const;
export type Behaviour = (typeof BEHAVIOURS)[number];

interface Kind {
  readonly label: string;
  readonly does: string;
  /** It is down, or so slow that it may as well be: a request only adds to its load. */
  readonly trouble: boolean;
  /** Milliseconds that an answer takes: at least, at most. */
  readonly takes: readonly [number, number];
  /** The share of requests that fail. */
  readonly fails: number;
}

export const KINDS: Readonly<Record<Behaviour, Kind>> = {
  healthy: {
    label: "Healthy",
    does: "answers in 0.1 s",
    trouble: false,
    takes: [60, 140],
    fails: 0,
  },
  failing: {
    label: "Failing",
    does: "503 after 0.3 s",
    trouble: true,
    takes: [200, 400],
    fails: 1,
  },
  flaky: {
    label: "Flaky",
    does: "every other call fails",
    trouble: true,
    takes: [60, 300],
    fails: 0.5,
  },
  slow: { label: "Slow", does: "answers in 3 s", trouble: true, takes: [2500, 3500], fails: 0 },
  hanging: {
    label: "Hanging",
    does: "no answer for 60 s",
    trouble: true,
    takes: [60_000, 60_000],
    fails: 1,
  },
  missing: {
    label: "Not found",
    does: "404: no outage",
    trouble: false,
    takes: [60, 140],
    fails: 0,
  },
};

/** An outage from its beginning to its end, over and over. */
export const SCRIPT: readonly { readonly is: Behaviour; readonly seconds: number }[] = [
  { is: "healthy", seconds: 9 },
  { is: "failing", seconds: 14 },
  { is: "slow", seconds: 12 },
  { is: "healthy", seconds: 16 },
];

const SCRIPT_SECONDS = SCRIPT.reduce((sum, { seconds }) => sum + seconds, 0);

/** Where in the script a moment is: the phase, and the share of the whole that has passed. */
export function place(milliseconds: number): { phase: number; share: number } {
  const into = (milliseconds / 1000) % SCRIPT_SECONDS;
  let end = 0;
  const phase = SCRIPT.findIndex(({ seconds }) => into < (end += seconds));
  return { phase, share: into / SCRIPT_SECONDS };
}

/** What becomes of a request, whoever makes it. */
export interface Request {
  readonly behaviour: Behaviour;
  readonly trouble: boolean;
  /** Milliseconds. */
  readonly takes: number;
  readonly fails: boolean;
}

export interface Answer {
  readonly rooms: number;
  /** When it was given. */
  readonly at: number;
}

/** An answer that is none. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    what: string,
  ) {
    super(`${status} ${what}`);
  }
}

export class Dependency {
  /** `undefined`: it follows the script. */
  #byHand: Behaviour | undefined;
  #scriptFrom = 0;

  constructor(
    readonly world: World,
    /** From 0 to 1. */
    readonly random: () => number,
  ) {}

  get scripted(): boolean {
    return this.#byHand === undefined;
  }

  get place(): { phase: number; share: number } {
    return place(this.world.now - this.#scriptFrom);
  }

  get behaviour(): Behaviour {
    return this.#byHand ?? SCRIPT[this.place.phase]!.is;
  }

  /** From now on it does this; or plays the script, from its beginning. */
  be(what: Behaviour | "scripted"): void {
    this.#byHand = what === "scripted" ? undefined : what;
    this.#scriptFrom = this.world.now;
  }

  /** Time is at its beginning again. */
  restart(): void {
    this.#scriptFrom = 0;
  }

  /** What becomes of a request that is made now. */
  plan(): Request {
    const { behaviour } = this;
    const { takes, fails, trouble } = KINDS[behaviour];
    return {
      behaviour,
      trouble,
      takes: takes[0] + this.random() * (takes[1] - takes[0]),
      fails: this.random() < fails,
    };
  }

  /** Makes a request; whoever aborts it waits no longer. */
  answer(request: Request, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const answering = this.world.after(request.takes, () => {
        if (request.behaviour === "missing") {
          reject(new HttpError(404, "no such hotel"));
        } else if (request.behaviour === "hanging") {
          reject(new Error("connection reset"));
        } else if (request.fails) {
          reject(new HttpError(503, "service unavailable"));
        } else {
          resolve({ rooms: 1 + Math.floor(this.random() * 9), at: this.world.now });
        }
      });
      signal.addEventListener("abort", () => {
        this.world.cancel(answering);
        reject(signal.reason);
      });
    });
  }
}

/** Numbers that look random and are the same at each start (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
