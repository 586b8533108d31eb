/** A circuit breaker. */

import type { Duration } from "./duration.js";
import { CircuitOpenError, TimeoutError, cheaply } from "./errors.js";
import { type EventType, type Events, type Listener, Listeners } from "./events.js";
import { CallContext, limited } from "./limit.js";
import {
  FAILURES,
  LEFT,
  TRIGGER,
  WAIT,
  generationOf,
  isIdle,
  said,
  stateOf,
  wasm,
  wordOf,
} from "./module.js";
import { REASONS, STATES, type State, TRIGGERS } from "./names.js";
import {
  type BreakerOptions,
  type CallOptions,
  type Checked,
  checkBreaker,
  checkCall,
  checkWait,
  checkFunction,
  create,
} from "./options.js";
import {
  DROPPED,
  FAILURE,
  IGNORED,
  type Judged,
  OUTCOMES,
  OVERLOADED,
  SUCCESS,
  read,
} from "./outcome.js";
import { giveBack } from "./slots.js";
import { type Snapshot, checkSnapshot } from "./snapshot.js";

/** A function that gives a promise of what `F` gives. */
export type Guarded<F extends (...args: any[]) => unknown> = (
  this: ThisParameterType<F>,
  ...args: Parameters<F>
) => Promise<Awaited<ReturnType<F>>>;

/** What the breakers of a group have in common; a breaker alone is a group of one. */
export class Group {
  readonly listeners = new Listeners();
  /** Failures in a row are counted, in the breaker's word. */
  readonly inRow: boolean;
  /** A success is counted without looking at the clock. */
  readonly timeless: boolean;
  #last = 0;

  constructor(readonly options: Checked) {
    this.inRow = !options["failureRate"];
    this.timeless = !options["slow"] && !options["ofTime"];
  }

  /** Asks the module whether a call may be made that finds the breaker not closed: see `calls.rs`. */
  admit(number: number, now: number): number {
    return wasm.admit(number, now, 0);
  }

  /** The time; where a clock throws, or says what is no finite number, none has passed. */
  now(): number {
    try {
      const { clock } = this.options;
      const now = clock ? clock() : performance.now();
      if (Number.isFinite(now)) {
        this.#last = now;
      }
    } catch {
      // As `clock` is documented.
    }
    return this.#last;
  }
}

/** No breaker's. */
const NO_WORD = -1;

/** A way to make calls through a breaker: with its own options, or others. */
class Way {
  /** Nothing has to be known of a call but how it ended. */
  readonly plain: boolean;
  /** The word of a closed breaker for which the two functions were made. */
  word = NO_WORD;
  succeeded: ((answer: unknown) => unknown) | undefined;
  failed: ((error: unknown) => never) | undefined;

  constructor(readonly options: Checked) {
    const { timeout, fallback, classifyOutput, slow } = options;
    this.plain = !(timeout || fallback || classifyOutput || slow);
  }
}

/** One of a group; who makes it gives the number back. */
export class Member {
  constructor(
    readonly group: Group,
    readonly number: number,
    readonly key: unknown,
  ) {}
}

const CHANGES: Partial<Record<State, EventType>> = {
  closed: "close",
  open: "open",
  half_open: "halfOpen",
};

/**
 * A circuit breaker: after enough failures it refuses calls at once, until a probe finds that what
 * it guards is back.
 *
 * ```ts
 * const pms = new CircuitBreaker({ name: "pms", threshold: 5, reset: "30s", timeout: "2s" });
 * const inventory = pms.wrap(fetchInventory);
 * ```
 */
export class CircuitBreaker {
  readonly #group: Group;
  readonly #number: number;
  readonly #way: Way;
  /** Those of one of many: they are held as long as it is. */
  #alone: Listeners | undefined;
  /** The key, if it is one of many. */
  readonly key: unknown;

  /** Throws a `TypeError` for an option that is none, or out of its range. */
  constructor(options: BreakerOptions);
  /** @internal */
  constructor(options: BreakerOptions | Member);
  constructor(options: BreakerOptions | Member) {
    if (options instanceof Member) {
      this.#group = options.group;
      this.#number = options.number;
      this.key = options.key;
    } else {
      this.#group = new Group(checkBreaker(options));
      this.#number = create(this.#group.options);
      giveBack(this, this.#number);
    }
    this.#way = new Way(this.#group.options);
  }

  get name(): string {
    return this.#group.options["name"];
  }

  /** Reading it changes nothing: it is open until a call asks, also after its wait. */
  get state(): State {
    return STATES[stateOf(wordOf(this.#number))]!;
  }

  /** The number of its entry into its state. */
  get generation(): number {
    return generationOf(wordOf(this.#number));
  }

  /**
   * The function with this breaker before it. `options`: what is other than this breaker's own.
   * Throws a `TypeError` for options that are none.
   */
  wrap<F extends (...args: any[]) => unknown>(
    f: F,
    options?: CallOptions<Parameters<F>>,
  ): Guarded<F> {
    checkFunction(f, this.#group.options);
    const way = this.#wayOf(options);
    const breaker = this;
    const number = this.#number;
    const { listeners } = this.#group;
    return function (this: ThisParameterType<F>, ...args: Parameters<F>) {
      // Not by `#watched`: a private accessor takes a sixth of all that a plain call costs.
      return wordOf(number) === way.word && !(listeners.watched || breaker.#alone?.watched)
        ? plainly(way, f, this, args)
        : breaker.#run(way, f, this, args, undefined, undefined);
    } as Guarded<F>;
  }

  /**
   * Makes a call. It rejects with `CircuitOpenError` where the circuit is open, with `TimeoutError`
   * where it took too long, and else as `f` does. An abort by `signal` is no failure.
   */
  call<T>(
    f: (context: CallContext) => T,
    options?: CallOptions<[]> & { signal?: AbortSignal | undefined },
  ): Promise<Awaited<T>> {
    try {
      checkFunction(f, this.#group.options);
      const way = this.#wayOf(options, true);
      const { signal } = way.options;
      return this.#run(way, f, undefined, [], new CallContext(), signal) as Promise<Awaited<T>>;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Calls `listener` at each event, after what it tells of has happened; what listeners cause is told
   * of next. Gives a function that ends this, at once. One of many hears of its own key alone.
   */
  on<Type extends EventType>(type: Type, listener: Listener<Type>): () => void {
    return (this.key === undefined ? this.#group.listeners : (this.#alone ??= new Listeners())).add(
      type,
      listener,
    );
  }

  /** Closes it; what was counted is forgotten. */
  close(): void {
    this.#operate("closed");
  }

  /** The same as `close`: options can't be changed yet. */
  clear(): void {
    this.#operate("closed");
  }

  /** Refuses every call until another operator call. */
  forceOpen(): void {
    this.#operate("forced_open");
  }

  /** Lets every call through and counts nothing until another operator call. */
  disable(): void {
    this.#operate("disabled");
  }

  /** Lets every call through, and tells (`wouldTrip`) when it would have opened. */
  shadow(): void {
    this.#operate("shadow");
  }

  /** Opens it for so long, without jitter or backoff. */
  openFor(wait: Duration): void {
    this.#operate("open", checkWait(wait, this.#group.options));
  }

  /** Its state, for another isolate, process or run. */
  snapshot(): Snapshot {
    wasm.snapshot(this.#number, this.#group.now());
    return {
      state: this.state,
      timeLeft: said[0]!,
      imposed: said[1]! > 0,
      consecutive: said[2]!,
      reopenings: said[3]!,
    };
  }

  /** Takes the state of a snapshot. Throws a `TypeError` for nonsense, and stays as it was. */
  restore(snapshot: Snapshot): void {
    const { state, timeLeft, imposed, consecutive, reopenings } = checkSnapshot(snapshot);
    const now = this.#group.now();
    const before = wordOf(this.#number);
    const refused = wasm.restore(
      this.#number,
      STATES.indexOf(state),
      timeLeft,
      imposed as unknown as number,
      consecutive,
      reopenings,
      now,
    );
    if (refused) {
      throw new TypeError(
        refused > 1
          ? `not a snapshot: ${consecutive} failures in a row would have opened it`
          : "not a snapshot: it is closed, but has time left",
      );
    }
    this.#changed(before);
  }

  #wayOf(options: object | undefined, once?: boolean): Way {
    return options === undefined
      ? this.#way
      : new Way(checkCall(options, this.#group.options, once));
  }

  #run(
    way: Way,
    f: (...args: any[]) => unknown,
    self: unknown,
    args: unknown[],
    context: CallContext | undefined,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    if (signal?.aborted) {
      return Promise.reject(signal.reason);
    }
    let word = wordOf(this.#number);
    if (stateOf(word)) {
      const now = this.#group.now();
      const before = wordOf(this.#number);
      const answer = this.#group.admit(this.#number, now);
      word = wordOf(this.#number);
      if (answer < 0) {
        const refusal = this.#refuse(answer);
        return way.options["fallback"]
          ? this.#serve(way, "rejected", refusal, true, self, args)
          : Promise.reject(refusal);
      }
      if (answer) {
        this.#changed(before);
      }
    }
    if (!way.plain || signal || this.#watched) {
      return this.#guard(generationOf(word), way, f, self, args, context, signal);
    }
    if (word !== way.word) {
      this.#follow(way, word);
    }
    return plainly(way, f, self, context ? [context] : args);
  }

  /** What follows a plain call: made once for each word of a closed breaker, not for each call. */
  #follow(way: Way, word: number): void {
    const generation = generationOf(word);
    const number = this.#number;
    const { inRow, listeners, timeless } = this.#group;
    way.word = stateOf(word) ? NO_WORD : word;
    way.succeeded = (answer) => {
      if (
        listeners.watched ||
        this.#alone?.watched ||
        !(inRow ? isIdle(number, word) : timeless && wasm.succeed(number, generation, 0, 0))
      ) {
        this.#settle(generation, SUCCESS, 0, undefined);
      }
      return answer;
    };
    way.failed = (error) => {
      let judged: Judged = [FAILURE, 0];
      try {
        judged = judge(way, error);
      } finally {
        this.#settle(generation, judged[0], judged[1], undefined);
      }
      throw error;
    };
  }

  async #guard(
    generation: number,
    way: Way,
    f: (...args: any[]) => unknown,
    self: unknown,
    args: unknown[],
    context: CallContext | undefined,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const { options } = way;
    const started = options["slow"] || this.#watched ? this.#group.now() : undefined;
    const start = () => Reflect.apply(f, self, context ? [context] : args);
    let result: unknown;
    let failed = false;
    let late: TimeoutError | undefined;
    let judged: Judged = [FAILURE, 0];
    try {
      try {
        result = await (options["timeout"] || signal
          ? limited(start, options["timeout"], signal, context, () => {
              late = cheaply(() => new TimeoutError(this.name, this.key, options["timeout"]));
              return late;
            })
          : start());
      } catch (error) {
        result = error;
        failed = true;
      }
      if (!late) {
        judged = !failed
          ? options["classifyOutput"]
            ? read(options["classifyOutput"](result), SUCCESS)
            : [SUCCESS, 0]
          : signal?.aborted && Object.is(result, signal.reason)
            ? [DROPPED, 0]
            : judge(way, result);
      }
    } finally {
      this.#settle(generation, judged[0], judged[1], started);
    }
    if (judged[0] === FAILURE || judged[0] === OVERLOADED) {
      return this.#serve(way, late ? "timed_out" : "failed", result, failed, self, args);
    }
    if (failed) {
      throw result;
    }
    return result;
  }

  /** The fallback's answer in place of what a call gave or threw; and where there is none, that. */
  async #serve(
    way: Way,
    inPlaceOf: Events["fallback"]["inPlaceOf"],
    cause: unknown,
    thrown: boolean,
    self: unknown,
    args: unknown[],
  ): Promise<unknown> {
    const { fallback, fallbackOn } = way.options;
    if (fallback && (inPlaceOf === "rejected" || fallbackOn !== "open")) {
      const served: unknown = await Reflect.apply(fallback, self, [cause, ...args]);
      if (served !== undefined) {
        this.#tell("fallback", { inPlaceOf, cause });
        return served;
      }
    }
    if (thrown) {
      throw cause;
    }
    return cause;
  }

  #refuse(answer: number): CircuitOpenError {
    const left = said[LEFT]!;
    const error = cheaply(
      () =>
        new CircuitOpenError(
          this.name,
          this.key,
          REASONS[-1 - answer]!,
          left < 0 ? undefined : left,
        ),
    );
    this.#tell("reject", { error });
    return error;
  }

  #settle(generation: number, outcome: number, wait: number, started: number | undefined): void {
    const group = this.#group;
    const watched = this.#watched;
    const unread = group.timeless && outcome === SUCCESS && !watched;
    const now = unread ? 0 : group.now();
    const took = started === undefined ? 0 : Math.max(now - started, 0);
    let effect = 0;
    if (
      outcome !== SUCCESS ||
      !(group.inRow
        ? isIdle(this.#number, generation << 3)
        : wasm.succeed(this.#number, generation, took, now))
    ) {
      const at = unread ? group.now() : now;
      const before = wordOf(this.#number);
      effect = wasm.settle(this.#number, generation, outcome, wait, took, at, Math.random());
      if (effect > 2) {
        this.#changed(before, effect > 3);
      }
    }
    if (watched) {
      this.#tell("outcome", {
        outcome: OUTCOMES[outcome],
        duration: started === undefined ? started : took,
        late: effect === 2,
        generation,
      });
    }
  }

  #operate(into: State, wait = 0): void {
    const now = this.#group.now();
    const before = wordOf(this.#number);
    wasm.operate(this.#number, STATES.indexOf(into), wait, now);
    this.#changed(before);
  }

  /** Tells of the change that the module said; `before`: the word at which it was made. */
  #changed(before: number, wouldTrip = false): void {
    const to = wouldTrip ? "open" : this.state;
    const wait = said[WAIT]!;
    const change = {
      from: STATES[stateOf(before)]!,
      to,
      trigger: TRIGGERS[said[TRIGGER]!]!,
      failures: said[FAILURES]!,
      wait: wait < 0 ? undefined : wait,
    };
    if (wouldTrip) {
      this.#tell("wouldTrip", change);
    } else {
      this.#tell("stateChange", change, CHANGES[to]);
    }
  }

  /** Somebody wants to hear of the outcome of each call. */
  get #watched(): boolean {
    return this.#group.listeners.watched || !!this.#alone?.watched;
  }

  #tell(type: EventType, event: object, also?: EventType): void {
    const { listeners } = this.#group;
    const alone = this.#alone;
    if (listeners.has(type, alone) || listeners.has(also, alone)) {
      const { name: breaker, key, generation } = this;
      listeners.tell(type, { breaker, key, generation, ...event }, also, alone);
    }
  }

  /** @internal */
  static tell(breaker: CircuitBreaker, type: EventType, event: object = {}): void {
    breaker.#tell(type, event);
  }
}

/** Makes an admitted call, after which only its end has to be told. */
function plainly(
  way: Way,
  f: (...args: any[]) => unknown,
  self: unknown,
  args: unknown[],
): Promise<unknown> {
  // Before `f`, which may make another call this way, of a later generation.
  const { succeeded, failed } = way;
  let call: Promise<unknown>;
  try {
    call = Promise.resolve(Reflect.apply(f, self, args));
  } catch (error) {
    call = Promise.reject(error);
  }
  return call.then(succeeded, failed);
}

/** What an error of a call means. An abort is one of the caller's. */
function judge(way: Way, error: unknown): Judged {
  if ((error as Error | undefined)?.name === "AbortError") {
    return [DROPPED, 0];
  }
  const { classify } = way.options;
  return classify ? read(classify(error), IGNORED) : [FAILURE, 0];
}
