/** A breaker of one request, on a circuit that all isolates share. */

import { CircuitBreaker, Group, type Guarded, Member } from "../breaker.js";
import type { Duration } from "../duration.js";
import type { Events, StateChange } from "../events.js";
import { type CallContext, limited } from "../limit.js";
import { LEFT, generationOf, said, stateOf, wasm, wordOf } from "../module.js";
import { STATES } from "../names.js";
import { type CallOptions, type Checked, probeTimeout } from "../options.js";
import type { Snapshot } from "../snapshot.js";
import { type Copy, type News, copyOf, isWithin } from "./copy.js";
import { type SharedOptions, checkShared } from "./options.js";
import type { ObjectNamespace, RequestContext } from "./platform.js";
import type { Answer, Message } from "./protocol.js";
import { talk } from "./talk.js";

const HALF_OPEN = STATES.indexOf("half_open");

/** Admits a probe only with the lease. */
class SharedGroup extends Group {
  /** The last call was refused for want of a lease alone. */
  wanting = false;
  /** Hears of each probe that is let through. */
  onProbe: ((generation: number) => void) | undefined;

  constructor(
    options: Checked,
    readonly copy: Copy,
  ) {
    super(options);
  }

  override admit(number: number, now: number): number {
    const { failed, lease } = this.copy;
    const granted = failed !== undefined || isWithin(lease, now);
    const answer = wasm.admit(number, now, granted ? 0 : 1);
    this.wanting = answer < 0 && said[LEFT] === 0;
    const word = wordOf(number);
    if (answer >= 0 && stateOf(word) === HALF_OPEN) {
      this.onProbe?.(generationOf(word));
    }
    return answer;
  }
}

/** What a talk with the object is about. */
type Topic = "read" | "lease" | "news";

/**
 * A breaker as {@link sharedBreaker} gives it. What it does to the circuit, the other isolates learn;
 * what its listeners hear of is what its own calls did, and what they found that others did.
 */
export class SharedBreaker extends CircuitBreaker {
  readonly #group: SharedGroup;
  readonly #copy: Copy;
  readonly #namespace: ObjectNamespace;
  readonly #context: RequestContext | undefined;
  /** Its last trial, and its probes that have not ended. */
  #trial: number | undefined;
  #probes = 0;
  #unlisten: (() => void) | undefined;

  /** @internal */
  constructor(group: SharedGroup, namespace: ObjectNamespace, context: RequestContext | undefined) {
    super(new Member(group, group.copy.number, undefined));
    this.#group = group;
    this.#copy = group.copy;
    this.#namespace = namespace;
    this.#context = context;
    group.onProbe = (generation) => this.#probing(generation);
    group.listeners.add("stateChange", (change: StateChange) => this.#changed(change));
  }

  override wrap<F extends (...args: any[]) => unknown>(
    f: F,
    options?: CallOptions<Parameters<F>>,
  ): Guarded<F> {
    const guarded = super.wrap(f, options);
    const breaker = this;
    return function (this: ThisParameterType<F>, ...args: Parameters<F>) {
      return breaker.#make(() => Reflect.apply(guarded, this, args));
    } as Guarded<F>;
  }

  override call<T>(
    f: (context: CallContext) => T,
    options?: CallOptions<[]> & { signal?: AbortSignal | undefined },
  ): Promise<Awaited<T>> {
    return this.#make(() => super.call(f, options), options?.signal);
  }

  /** Closes it, for all. True when the object knows, false when it could not be told. */
  override close(): Promise<boolean> {
    super.close();
    return this.#publish();
  }

  /** The same as `close`. */
  override clear(): Promise<boolean> {
    return this.close();
  }

  /** Refuses every call of all isolates until another operator call. */
  override forceOpen(): Promise<boolean> {
    super.forceOpen();
    return this.#publish();
  }

  /** Lets every call through and counts nothing, in all isolates, until another operator call. */
  override disable(): Promise<boolean> {
    super.disable();
    return this.#publish();
  }

  /** Lets every call of all isolates through; each tells when it would have opened. */
  override shadow(): Promise<boolean> {
    super.shadow();
    return this.#publish();
  }

  /** Opens it for all for so long, without jitter or backoff. */
  override openFor(wait: Duration): Promise<boolean> {
    super.openFor(wait);
    return this.#publish();
  }

  /** Takes the state of a snapshot, for all, as an operator would. */
  override restore(snapshot: Snapshot): Promise<boolean> {
    super.restore(snapshot);
    return this.#publish();
  }

  /** What an operator did is told at once. */
  #publish(): Promise<boolean> {
    this.#copy.lease = undefined;
    this.#copy.news = { kind: "changed", operator: true, again: false, sent: undefined };
    const told = this.#talk("news");
    this.#later(told);
    return told;
  }

  /** Makes a call; before it, if what is known is too old to let it through, asks. */
  #make<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.#isStale(this.#group.now())) {
      return this.#follow(call());
    }
    const asked = this.#talk(this.#copy.news ? "news" : "read");
    const go = () => this.#follow(call());
    // An abort ends the waiting, and then the call.
    return signal instanceof AbortSignal
      ? limited(() => asked, undefined, signal).then(go, go)
      : asked.then(go);
  }

  /** A call is refused by what is known, however old; and where the object fails it is all there is. */
  #isStale(now: number): boolean {
    const { fresh, failed } = this.#copy;
    return (
      !isWithin(fresh, now) && !failed && !["open", "half_open", "forced_open"].includes(this.state)
    );
  }

  /** What a call brings about is told in the background; without one, before the call ends. */
  #follow<T>(call: Promise<T>): Promise<T> {
    const early = this.#talkIfDue();
    const told = (): Promise<unknown> | undefined => {
      const late = this.#talkIfDue();
      return early || late ? Promise.all([early, late]) : undefined;
    };
    return call.finally(told);
  }

  /** Starts what is to be said or asked; gives a promise where there is no background. */
  #talkIfDue(): Promise<unknown> | undefined {
    const topic = this.#due(this.#group.now());
    this.#group.wanting = false;
    return topic && this.#later(this.#talk(topic));
  }

  #due(now: number): Topic | undefined {
    const { news, failed, held, leasing, reading, fresh } = this.#copy;
    if (isWithin(failed, now)) {
      return undefined;
    }
    if (news && !isWithin(news.sent, now)) {
      return "news";
    }
    if (this.#group.wanting && !isWithin(held, now) && !isWithin(leasing, now)) {
      return "lease";
    }
    // In the background it is renewed before its time, so that no call of a busy isolate waits.
    const young = fresh && this.#context ? { ...fresh, lasts: fresh.lasts / 2 } : fresh;
    return isWithin(young, now) || isWithin(reading, now) ? undefined : "read";
  }

  #later(talk: Promise<unknown>): Promise<unknown> | undefined {
    try {
      this.#context?.waitUntil(talk);
      return this.#context ? undefined : talk;
    } catch {
      // The request has ended.
      return talk;
    }
  }

  /** Talks with the object, and goes by what it says. Never rejects. */
  async #talk(topic: Topic): Promise<boolean> {
    const copy = this.#copy;
    const { name, maxAge, objectTimeout } = this.#group.options;
    const since = this.#group.now();
    const asking = { since, lasts: objectTimeout };
    const { news } = copy;
    let message: Message = { kind: "read" };
    // Whatever is asked, the answer says how it stands.
    copy.reading = asking;
    if (topic === "news" && news) {
      message = this.#tell(news);
      news.sent = asking;
      news.again = true;
    } else if (topic === "lease") {
      copy.leasing = asking;
      message = { kind: "lease", time: probeTimeout(this.#group.options) };
    }
    try {
      const answer = await talk(this.#namespace, name, message, objectTimeout);
      copy.failed = undefined;
      // As old as the question: what it says may have changed since.
      copy.fresh = { since, lasts: maxAge };
      this.#learn(answer, since, message.kind, news);
      return answer.done;
    } catch (cause) {
      copy.failed = { since: this.#group.now(), lasts: maxAge };
      if (news) {
        news.sent = undefined;
      }
      CircuitBreaker.tell(this, "sharingFailed", { cause });
      return false;
    } finally {
      copy.reading = undefined;
      if (topic === "lease") {
        copy.leasing = undefined;
      }
    }
  }

  #tell({ kind, operator, again }: News): Message {
    const { version } = this.#copy;
    if (kind === "undecided" && version) {
      return { kind, since: version };
    }
    const to = this.snapshot();
    if (to.state === "half_open") {
      // A trial of its own, without a lease: of no concern to others.
      to.state = "open";
    }
    return { kind: "changed", to, since: version ?? null, operator, again };
  }

  /** `asked`: when, and what; `told`: of what, if it was news. */
  #learn(answer: Answer, asked: number, kind: Message["kind"], told: News | undefined): void {
    const copy = this.#copy;
    const { version, snapshot, done } = answer;
    const before = copy.version;
    const sameLife = before?.life === version.life;
    const telling = kind === "changed" || kind === "undecided";
    // Nothing has happened here since that was told.
    const isLast = telling && copy.news === told;
    if (isLast) {
      copy.news = undefined;
    }
    if (sameLife ? version.number < before.number : version.life === copy.lifeBefore) {
      return;
    }
    if (!sameLife) {
      copy.lifeBefore = before?.life;
    }
    const isNew = !sameLife || version.number > before.number;
    copy.version = version;
    copy.held = undefined;
    if (isNew) {
      // A lease is one version's.
      copy.lease = undefined;
    }
    if (kind === "lease" && done) {
      // From when it was asked for: it ends here before it ends there.
      const lasts = snapshot.timeLeft;
      copy.lease = { since: asked, lasts, generation: undefined, inFlight: 0, counted: false };
      const isNext = sameLife && version.number === before.number + 1;
      if (!isNext && !copy.news?.operator) {
        // Others have probed since: a trial of before counts for nothing, their reopenings do.
        copy.news = undefined;
        super.restore(snapshot);
      }
      return;
    }
    copy.held = { since: this.#group.now(), lasts: snapshot.timeLeft };
    if (telling && done) {
      // It stands here as it was told.
      return;
    }
    // It wanted to probe what others know as no longer open, and has nothing to say against it.
    const waits = snapshot.state === "open" || snapshot.state === "half_open";
    const adrift = kind === "lease" && !waits && !copy.news;
    if (!isLast && !adrift && (!isNew || (!before && snapshot.state === "closed"))) {
      // Who never was answered before has counted from the same beginning.
      return;
    }
    if (copy.news?.operator) {
      // It stands, whatever it crossed on its way.
      return;
    }
    // Others were first: what happened here counts for nothing.
    copy.news = undefined;
    copy.lease = undefined;
    if (snapshot.state !== "half_open" || this.state !== "open") {
      super.restore(snapshot);
    }
  }

  #changed({ to, trigger }: StateChange): void {
    if (to === "half_open" || trigger === "restored" || trigger === "operator") {
      return;
    }
    const copy = this.#copy;
    copy.lease = undefined;
    // What an operator did and could not tell stands, whatever came of it.
    const { operator, again } = copy.news ?? { operator: false, again: false };
    copy.news = { kind: "changed", operator, again, sent: undefined };
  }

  #probing(generation: number): void {
    const { lease } = this.#copy;
    if (!lease) {
      return;
    }
    lease.generation = generation;
    lease.inFlight += 1;
    this.#probes = this.#trial === generation ? this.#probes + 1 : 1;
    this.#trial = generation;
    this.#unlisten ??= this.#group.listeners.add("outcome", (event: Events["outcome"]) =>
      this.#ended(event),
    );
  }

  /** A call ended while a probe was in flight. */
  #ended({ outcome, generation }: Events["outcome"]): void {
    if (generation !== this.#trial) {
      return;
    }
    this.#probes -= 1;
    if (this.#probes === 0) {
      this.#unlisten?.();
      this.#unlisten = undefined;
    }
    const copy = this.#copy;
    const { lease } = copy;
    if (lease?.generation !== generation) {
      // It has decided, or was too late to.
      return;
    }
    lease.inFlight -= 1;
    const { onCancel } = this.#group.options;
    lease.counted ||= !(outcome === "ignored" || (outcome === "dropped" && onCancel !== "failure"));
    if (!lease.counted && lease.inFlight === 0) {
      copy.lease = undefined;
      copy.news = { kind: "undecided", operator: false, again: false, sent: undefined };
    }
  }
}

/**
 * The breaker of a request, on the circuit of this name that all isolates share through a Durable
 * Object. To be asked for in each request; what is known of the circuit stays in the isolate.
 *
 * ```ts
 * export { BreakerObject } from "breaker-wasm/durable-object";
 *
 * export default {
 *   async fetch(request, env, ctx) {
 *     const pms = sharedBreaker(env.BREAKERS, "pms", { threshold: 5, reset: "30s" }, ctx);
 *     return pms.call(() => fetch("https://pms.example/"));
 *   },
 * };
 * ```
 *
 * `context`: the request's, whose `waitUntil` takes what is said to the object in the background.
 * Without it, the calls that have something to say wait for it.
 *
 * Throws a `TypeError` for an option that is none or out of its range, for settings other than those
 * that this name had before in this isolate, and where there is no binding.
 */
export function sharedBreaker(
  namespace: ObjectNamespace,
  name: string,
  options: SharedOptions = {},
  context?: RequestContext,
): SharedBreaker {
  const checked = checkShared(namespace, name, options, context);
  const group = new SharedGroup(checked, copyOf(namespace, checked));
  return new SharedBreaker(group, namespace, context);
}
