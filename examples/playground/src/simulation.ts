/** Callers who ask a dependency through a breaker; and what the same calls cost without one. */

import {
  type BreakerOptions,
  CircuitBreaker,
  CircuitOpenError,
  type Events,
  type Snapshot,
  type State,
  TimeoutError,
} from "breaker-wasm";
import { type Answer, type Dependency, HttpError, type Request } from "./dependency.js";
import { type Form, written } from "./form.js";
import { Tally } from "./tally.js";
import { Window } from "./window.js";
import { plural } from "./words.js";
import type { World } from "./world.js";

/** How a call through the breaker ended. */
export const FATES = ["answered", "ignored", "failed", "timedOut", "refused"] as const;
export type Fate = (typeof FATES)[number];

export interface Call {
  readonly started: number;
  /** As long as there is no fate, it is waiting. */
  ended: number;
  fate: Fate | undefined;
  /** It reached the dependency. */
  sent: boolean;
  /** It was let through to find out whether the dependency is back. */
  probe: boolean;
  /** The caller got the last good answer. */
  stale: boolean;
}

/** A state, from a moment on. */
export interface Span {
  readonly from: number;
  readonly state: State;
}

export type Count = Fate | "probe" | "stale";

/** The last good answer, and what it is served in place of. */
class Stale {
  constructor(
    readonly answer: Answer,
    readonly inPlaceOf: unknown,
  ) {}
}

/** No caller is remembered for longer than a timeline shows, in milliseconds. */
const REMEMBERED = 130_000;

export class Simulation {
  #breaker!: CircuitBreaker;
  #form!: Form;
  #rate = 0;
  #arrival: number | undefined;
  #lastArrival = 0;
  #lastGood: Answer | undefined;
  #said = "";

  /** In the order in which they began. */
  calls: Call[] = [];
  spans: Span[] = [];
  counts!: Record<Count, number>;
  /** What happened with the breaker, and without. */
  guarded!: Tally;
  bare!: Tally;
  /** What was counted since it last closed. */
  window!: Window;
  /** Probes of this trial that are under way, and those that succeeded. */
  probing = 0;
  probed = 0;
  /** How long the wait was when it opened. */
  wait = 0;

  /** Hears of each entry into a state, and of openings that there would have been. */
  changed: (change: Events["stateChange"] | Events["wouldTrip"]) => void = () => {};

  constructor(
    readonly world: World,
    readonly dependency: Dependency,
    form: Form,
  ) {
    this.restart(form);
  }

  get state(): State {
    return this.#breaker.state;
  }

  get form(): Form {
    return this.#form;
  }

  /** What a call last gave its caller, in words. */
  get said(): string {
    return this.#said;
  }

  get snapshot(): Snapshot {
    return this.#breaker.snapshot();
  }

  /** When the next caller comes, if any. */
  get nextCall(): number | undefined {
    return this.#rate > 0 ? this.#lastArrival + 1000 / this.#rate : undefined;
  }

  /** Back to the beginning. */
  restart(form: Form): void {
    this.world.clear();
    this.calls = [];
    this.counts = {
      answered: 0,
      ignored: 0,
      failed: 0,
      timedOut: 0,
      refused: 0,
      probe: 0,
      stale: 0,
    };
    this.guarded = new Tally();
    this.bare = new Tally();
    this.#lastGood = undefined;
    this.#said = "";
    this.#breaker = this.#make(form);
    this.#enter(this.state, 0);
    this.spans = [{ from: 0, state: this.state }];
    this.#lastArrival = 0;
    this.#schedule();
  }

  /**
   * A breaker with these options in place of the one there was, and in its state. Throws the
   * package's `TypeError` where there is no such breaker; then all stays as it was.
   */
  use(form: Form): void {
    const breaker = this.#make(form);
    const before = this.#breaker.snapshot();
    try {
      breaker.restore(before);
    } catch {
      // More failures in a row than the new one bears: it begins with none.
    }
    this.#breaker = breaker;
    this.#enter(breaker.state, breaker.snapshot().timeLeft);
    if (before.state !== breaker.state) {
      this.spans.push({ from: this.world.now, state: breaker.state });
    }
  }

  /** Callers each second, from now on. */
  set rate(rate: number) {
    this.#rate = rate;
    this.#schedule();
  }

  get rate(): number {
    return this.#rate;
  }

  /** What operators do. */
  operate(what: (breaker: CircuitBreaker) => void): void {
    what(this.#breaker);
  }

  /** A caller comes now. */
  call(): void {
    const request = this.dependency.plan();
    this.#callBare(request);
    void this.#callGuarded(request);
  }

  #make(form: Form): CircuitBreaker {
    const options: BreakerOptions = {
      name: "pms",
      clock: () => this.world.now,
      classify: (error: unknown) => !(error instanceof HttpError && error.status === 404),
      ...written(form),
    };
    if (form.fallback) {
      options.fallback = (cause) => this.#lastGood && new Stale(this.#lastGood, cause);
    }
    const breaker = new CircuitBreaker(options);
    this.#form = { ...form };
    const mine = () => this.#breaker === breaker;
    breaker.on("stateChange", (change) => {
      if (mine()) {
        this.#enter(change.to, change.wait ?? 0);
        this.spans.push({ from: this.world.now, state: change.to });
        this.changed(change);
      }
    });
    breaker.on("wouldTrip", (change) => mine() && this.changed(change));
    breaker.on("outcome", ({ outcome, late, duration = 0 }) => {
      if (mine() && !late) {
        this.window.count(outcome, duration, this.world.now);
        if (breaker.state === "half_open") {
          this.probing -= 1;
          this.probed += outcome === "success" ? 1 : 0;
        }
      }
    });
    return breaker;
  }

  #enter(state: State, wait: number): void {
    this.window = new Window(this.#form);
    this.probing = 0;
    this.probed = 0;
    this.wait = state === "open" ? wait : 0;
  }

  #schedule(): void {
    this.world.cancel(this.#arrival);
    this.#arrival = undefined;
    const next = this.nextCall;
    if (next !== undefined) {
      this.#arrival = this.world.after(next - this.world.now, () => {
        this.#lastArrival = this.world.now;
        this.#schedule();
        this.call();
      });
    }
  }

  /** The same call by the same client, with the same timeout and nothing before it. */
  #callBare(request: Request): void {
    const { bare } = this;
    const { timesOut, timeout } = this.#form;
    const takes = timesOut ? Math.min(request.takes, timeout * 1000) : request.takes;
    const started = this.world.now;
    bare.sent(request);
    bare.started(started);
    const answered = !request.fails && takes === request.takes;
    this.world.after(takes, () => bare.ended(started, this.world.now, answered));
  }

  async #callGuarded(request: Request): Promise<void> {
    const breaker = this.#breaker;
    const { guarded, counts, world } = this;
    const started = world.now;
    const call: Call = {
      started,
      ended: started,
      fate: undefined,
      sent: false,
      probe: false,
      stale: false,
    };
    this.#remember(call);
    guarded.started(started);
    let said: string;
    try {
      const answer = await breaker.call(({ signal }): Promise<Answer | Stale> => {
        call.sent = true;
        guarded.sent(request);
        if (breaker.state === "half_open") {
          call.probe = true;
          counts.probe += 1;
          this.probing += 1;
        }
        return this.dependency.answer(request, signal);
      });
      if (answer instanceof Stale) {
        call.stale = true;
        call.fate = fateOf(answer.inPlaceOf);
        counts.stale += 1;
        const age = ((world.now - answer.answer.at) / 1000).toFixed(1);
        said = `200: ${plural(answer.answer.rooms, "room")} free, as of ${age} s ago`;
      } else {
        call.fate = "answered";
        if (counts === this.counts) {
          this.#lastGood = answer;
        }
        said = `200: ${plural(answer.rooms, "room")} free`;
      }
    } catch (error) {
      call.fate = fateOf(error);
      said = String(error);
    }
    call.ended = world.now;
    guarded.ended(
      started,
      world.now,
      call.stale || call.fate === "answered" || call.fate === "ignored",
    );
    counts[call.fate] += 1;
    if (counts === this.counts) {
      this.#said = said;
    }
  }

  #remember(call: Call): void {
    this.calls.push(call);
    const oldest = this.world.now - REMEMBERED;
    if (this.calls.length > 64 && this.calls[0]!.started < oldest) {
      this.calls = this.calls.filter(
        ({ started, ended, fate }) => (fate ? ended : started) >= oldest,
      );
    }
  }
}

function fateOf(error: unknown): Fate {
  return error instanceof CircuitOpenError
    ? "refused"
    : error instanceof TimeoutError
      ? "timedOut"
      : error instanceof HttpError && error.status === 404
        ? "ignored"
        : "failed";
}
