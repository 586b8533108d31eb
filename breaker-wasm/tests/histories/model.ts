/**
 * What a breaker does, written from CONTRACT.md alone and as plainly as it says it: whole
 * milliseconds, lists, no words of bits. Without jitter, on a clock that is set by hand.
 */

export type Name = "closed" | "open" | "half_open" | "forced_open" | "disabled" | "shadow";

export interface Rules {
  trips:
    | { threshold: number }
    | {
        /** The last so many calls, or the last so many milliseconds, in ten buckets. */
        window: { calls: number } | { time: number };
        minCalls: number;
        failureRate: Share;
        slow: { than: number; rate: Share } | undefined;
      };
  reset: number;
  backoff: number;
  maxReset: number;
  probes: number;
  closes: { after: number } | { rate: Share };
  probeTimeout: number;
  cancelFails: boolean;
}

/** So many of so many. */
export type Share = readonly [part: number, whole: number];

export type Ending = "success" | "failure" | "ignored" | "dropped" | { overloaded: number };

export type Order = "close" | "forceOpen" | "disable" | "shadow" | { openFor: number };

/** What is told of a change of state. */
export interface Change {
  from: Name;
  to: Name;
  trigger: string;
  failures: number;
  wait: number | undefined;
  generation: number;
}

export type Told = ({ wouldTrip: Change } | { changed: Change } | { refused: Refusal }) & object;

export interface Refusal {
  reason: "open" | "half_open_full" | "forced_open";
  retryAfter: number | undefined;
}

/** What `snapshot()` gives. */
export interface Kept {
  state: Name;
  timeLeft: number;
  imposed: boolean;
  consecutive: number;
  reopenings: number;
}

interface Sample {
  failed: boolean;
  slow: boolean;
  bucket: number;
}

const BUCKETS = 10;

const reaches = (part: number, whole: number, [num, den]: Share): boolean =>
  part * den >= whole * num;

export class Model {
  state: Name = "closed";
  generation = 0;
  readonly told: Told[] = [];
  /** Closed and shadow: what was counted. */
  #consecutive = 0;
  #window: Sample[] = [];
  /** Shadow: it was reported that it would have opened. */
  #reported = false;
  /** Open: since when and how long; half-open: since its last probe. */
  #anchor = 0;
  #wait = 0;
  #imposed = false;
  #reopenings = 0;
  #probing = 0;
  #successes = 0;
  #failures = 0;

  constructor(private readonly rules: Rules) {}

  /** The generation of the permit, or why there is none. */
  admit(now: number): number | Refusal {
    const refused = this.#ask(now);
    if (refused) {
      this.told.push({ refused });
      return refused;
    }
    return this.generation;
  }

  #ask(now: number): Refusal | undefined {
    if (this.state === "forced_open") {
      return { reason: "forced_open", retryAfter: undefined };
    }
    if (this.state !== "open" && this.state !== "half_open") {
      return undefined;
    }
    // A clock that was set back: no time has passed, and it is measured from here on.
    this.#anchor = Math.min(this.#anchor, now);
    const elapsed = now - this.#anchor;
    if (this.state === "open") {
      if (elapsed < this.#wait) {
        return { reason: "open", retryAfter: this.#wait - elapsed };
      }
      this.#try("wait_over", now);
      return undefined;
    }
    if (this.#hasRoom()) {
      this.#probing += 1;
      this.#anchor = now;
      return undefined;
    }
    const { probeTimeout } = this.rules;
    if (elapsed < probeTimeout) {
      return { reason: "half_open_full", retryAfter: probeTimeout - elapsed };
    }
    this.#try("probe_timed_out", now);
    return undefined;
  }

  #hasRoom(): boolean {
    const { probes, closes } = this.rules;
    return "after" in closes
      ? this.#probing < probes && this.#probing + this.#successes < closes.after
      : this.#probing + this.#successes + this.#failures < probes;
  }

  #try(trigger: string, now: number): void {
    this.#enter("half_open", trigger, 0, now);
    this.#probing = 1;
  }

  /** Says whether it came too late. */
  settle(generation: number, ending: Ending, took: number, now: number): boolean {
    if (generation !== this.generation) {
      return true;
    }
    const counted = ending === "dropped" && this.rules.cancelFails ? "failure" : ending;
    if (this.state === "half_open") {
      this.#settleProbe(counted, now);
    } else if (this.state === "closed" || (this.state === "shadow" && !this.#reported)) {
      this.#settleClosed(counted, took, now);
    }
    return false;
  }

  #settleClosed(ending: Ending, took: number, now: number): void {
    if (ending === "ignored" || ending === "dropped") {
      return;
    }
    if (typeof ending === "object") {
      this.#trip("overloaded", this.#consecutive + 1, ending.overloaded, now);
      return;
    }
    const failed = ending === "failure";
    const { trips } = this.rules;
    if ("threshold" in trips) {
      this.#consecutive = failed ? this.#consecutive + 1 : 0;
      if (this.#consecutive >= trips.threshold) {
        this.#trip("failures", this.#consecutive, undefined, now);
      }
      return;
    }
    const slowly = trips.slow !== undefined && took > trips.slow.than;
    this.#count(trips.window, { failed, slow: slowly, bucket: 0 }, now);
    const calls = this.#window.length;
    const failures = this.#window.filter((sample) => sample.failed).length;
    const slow = this.#window.filter((sample) => sample.slow).length;
    if (calls < trips.minCalls) {
      return;
    }
    if (reaches(failures, calls, trips.failureRate)) {
      this.#trip("failure_rate", failures, undefined, now);
    } else if (trips.slow && reaches(slow, calls, trips.slow.rate)) {
      this.#trip("slow_rate", failures, undefined, now);
    }
  }

  #count(window: { calls: number } | { time: number }, sample: Sample, now: number): void {
    if ("calls" in window) {
      this.#window = [...this.#window, sample].slice(-window.calls);
      return;
    }
    const bucket = Math.floor(now / (window.time / BUCKETS));
    const back = (this.#window.at(-1)?.bucket ?? bucket) - bucket;
    // A clock that was set back: what was the newest bucket is that of this reading.
    const aligned = this.#window.map((each) => ({
      ...each,
      bucket: each.bucket - Math.max(back, 0),
    }));
    this.#window = [...aligned, { ...sample, bucket }].filter(
      (each) => each.bucket > bucket - BUCKETS,
    );
  }

  #trip(trigger: string, failures: number, imposed: number | undefined, now: number): void {
    if (this.state === "shadow") {
      this.#reported = true;
      const wait = imposed ?? this.rules.reset;
      const { state: from, generation } = this;
      const would: Change = { from, to: "open", trigger, failures, wait, generation };
      this.told.push({ wouldTrip: would });
      return;
    }
    this.#reopenings = 0;
    this.#open(trigger, failures, imposed, now);
  }

  #settleProbe(ending: Ending, now: number): void {
    this.#probing -= 1;
    if (ending === "ignored" || ending === "dropped") {
      return;
    }
    if (typeof ending === "object") {
      this.#reopen("overloaded", this.#failures + 1, ending.overloaded, now);
      return;
    }
    if (ending === "failure") {
      this.#failures += 1;
    } else {
      this.#successes += 1;
    }
    const { closes, probes } = this.rules;
    const results = this.#successes + this.#failures;
    let reopens: boolean;
    if ("after" in closes) {
      reopens = this.#failures > 0;
      if (!reopens && this.#successes < closes.after) {
        return;
      }
    } else if (results < probes) {
      return;
    } else {
      reopens = reaches(this.#failures, results, closes.rate);
    }
    if (reopens) {
      this.#reopen("failed_probe", this.#failures, undefined, now);
    } else {
      this.#reopenings = 0;
      this.#enter("closed", "recovered", this.#failures, now);
    }
  }

  #reopen(trigger: string, failures: number, imposed: number | undefined, now: number): void {
    this.#reopenings = Math.min(this.#reopenings + 1, 255);
    this.#open(trigger, failures, imposed, now);
  }

  #open(trigger: string, failures: number, imposed: number | undefined, now: number): void {
    const { reset, backoff, maxReset } = this.rules;
    this.#imposed = imposed !== undefined;
    this.#wait = imposed ?? Math.min(reset * backoff ** this.#reopenings, maxReset);
    this.#enter("open", trigger, failures, now);
  }

  operate(order: Order, now: number): void {
    if (typeof order === "object") {
      this.#open("operator", 0, order.openFor, now);
      return;
    }
    if (order === "close") {
      this.#reopenings = 0;
    }
    const into = {
      close: "closed",
      forceOpen: "forced_open",
      disable: "disabled",
      shadow: "shadow",
    };
    this.#enter(into[order] as Name, "operator", 0, now);
  }

  snapshot(now: number): Kept {
    const { state } = this;
    const elapsed = Math.max(now - this.#anchor, 0);
    return {
      state,
      timeLeft: state === "open" ? Math.max(this.#wait - elapsed, 0) : 0,
      imposed: state === "open" && this.#imposed,
      consecutive: state === "closed" ? this.#consecutive : 0,
      reopenings: this.#reopenings,
    };
  }

  /** What a snapshot of this breaker brings back. */
  restore(kept: Kept, now: number): void {
    const { state, timeLeft, imposed, consecutive, reopenings } = kept;
    const { reset, backoff, maxReset } = this.rules;
    const opens = state === "open" || state === "half_open";
    this.#reopenings = state === "closed" ? 0 : reopenings;
    this.#imposed = state === "open" && imposed;
    this.#wait =
      state === "half_open"
        ? 0
        : imposed
          ? Math.min(timeLeft, 24 * 3_600_000)
          : Math.min(timeLeft, reset * backoff ** reopenings, maxReset);
    this.#enter(opens ? "open" : state, "restored", consecutive, now);
    this.#consecutive = state === "closed" ? consecutive : 0;
  }

  #enter(to: Name, trigger: string, failures: number, now: number): void {
    const from = this.state;
    this.state = to;
    this.generation += 1;
    this.#anchor = now;
    this.#consecutive = 0;
    this.#window = [];
    this.#reported = false;
    this.#probing = 0;
    this.#successes = 0;
    this.#failures = 0;
    const wait = to === "open" ? this.#wait : undefined;
    const change: Change = { from, to, trigger, failures, wait, generation: this.generation };
    this.told.push({ changed: change });
  }
}
