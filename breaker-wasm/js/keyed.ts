/** A breaker for each key: for each account, region or host. */

import { CircuitBreaker, Group, type Guarded, Member, giveBack } from "./breaker.js";
import type { CallContext } from "./limit.js";
import type { EventType, Listener } from "./events.js";
import { wasm } from "./module.js";
import {
  type BreakerOptions,
  type CallOptions,
  checkCall,
  checkFunction,
  checkKeyed,
  create,
  refuse,
} from "./options.js";

/** What tells one breaker from another. For several values, join them: `` `${account}/${region}` ``. */
export type Key = string | number | bigint | boolean;

export interface KeyedOptions extends BreakerOptions {
  /** How many keys are remembered; then idle closed ones are given up for new ones. Default 10,000. */
  maxKeys?: number | undefined;
}

/** How many keys are looked at to find one that can be given up. */
const LOOKS = 512;

interface Entry {
  readonly breaker: CircuitBreaker;
  readonly number: number;
  /** Asked for since it was last looked at. */
  used: boolean;
}

/**
 * Breakers by key, each like the others. A closed one that was not used lately is given up when
 * there are too many; one that is open, never.
 */
export class KeyedCircuitBreakers<K extends Key = string> {
  readonly #group: Group;
  /** The one of which the others are copies; it makes no call. */
  readonly #first: number;
  readonly #maxKeys: number;
  readonly #entries = new Map<K, Entry>();

  /** Throws a `TypeError` for an option that is none, or out of its range. */
  constructor(options: KeyedOptions) {
    const checked = checkKeyed(options);
    this.#maxKeys = checked["maxKeys"] ?? 10_000;
    this.#group = new Group(checked);
    this.#first = create(checked);
    giveBack(this, this.#first);
  }

  get name(): string {
    return this.#group.options["name"];
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#entries.size;
  }

  /** The keys that are remembered, with their breakers. */
  *[Symbol.iterator](): IterableIterator<[K, CircuitBreaker]> {
    for (const [key, { breaker }] of this.#entries) {
      yield [key, breaker];
    }
  }

  /** The breaker of a key; the same one each time, until it is given up. */
  get(key: K): CircuitBreaker {
    const known = this.#entries.get(key);
    if (known) {
      known.used = true;
      return known.breaker;
    }
    return this.#add(key);
  }

  /** The function with a breaker before it, whose key `key` makes of what the function gets. */
  wrap<F extends (...args: any[]) => unknown>(
    f: F,
    key: (...args: Parameters<F>) => K,
    options?: CallOptions<Parameters<F>>,
  ): Guarded<F> {
    checkFunction(f, this.#group.options);
    checkFunction(key, this.#group.options, "key");
    if (options !== undefined) {
      checkCall(options, this.#group.options);
    }
    const breakers = this;
    const ways = new WeakMap<CircuitBreaker, Guarded<F>>();
    return async function (this: ThisParameterType<F>, ...args: Parameters<F>) {
      const breaker = breakers.get(key(...args));
      let guarded = ways.get(breaker);
      if (!guarded) {
        guarded = breaker.wrap(f, options);
        ways.set(breaker, guarded);
      }
      return Reflect.apply(guarded, this, args);
    } as Guarded<F>;
  }

  /** Makes a call through the breaker of a key. */
  async call<T>(
    key: K,
    f: (context: CallContext) => T,
    options?: CallOptions<[]> & { signal?: AbortSignal | undefined },
  ): Promise<Awaited<T>> {
    return this.get(key).call(f, options);
  }

  /** Calls `listener` at each event of any of them; gives a function that ends this. */
  on<Type extends EventType>(type: Type, listener: Listener<Type>): () => void {
    return this.#group.listeners.add(type, listener);
  }

  #add(key: K): CircuitBreaker {
    if (!["string", "number", "bigint", "boolean"].includes(typeof key)) {
      throw new TypeError(
        `circuit \`${this.name}\`: a key is of type ${typeof key}: expected text, a number, a bigint or a boolean`,
      );
    }
    const full = this.#entries.size >= this.#maxKeys && !this.#evict();
    const number = refuse(wasm.fork(this.#first), this.#group.options);
    const breaker = new CircuitBreaker(new Member(this.#group, number, key));
    if (full) {
      this.#tell("keysFull", key);
    } else {
      this.#entries.set(key, { breaker, number, used: false });
    }
    return breaker;
  }

  /** Gives up a key as the CLOCK algorithm does; false if none of those it looked at can be. */
  #evict(): boolean {
    let looks = 0;
    for (const [key, entry] of this.#entries) {
      if (!entry.used && wasm.is_idle(entry.number)) {
        this.#entries.delete(key);
        this.#tell("keyEvicted", key);
        return true;
      }
      entry.used = false;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      if (++looks >= LOOKS) {
        return false;
      }
    }
    return false;
  }

  #tell(type: EventType, key: K): void {
    this.#group.listeners.tell(type, { breaker: this.name, key, generation: 0 });
  }
}
