/** A breaker for each key: for each account, region or host. */

import { CircuitBreaker, Group, type Guarded, Member } from "./breaker.js";
import type { CallContext } from "./limit.js";
import type { EventType, Listener } from "./events.js";
import { isIdle, stateOf, wordOf } from "./module.js";
import {
  type BreakerOptions,
  type CallOptions,
  checkCall,
  checkFunction,
  checkKeyed,
  create,
  fork,
} from "./options.js";
import { giveBack, giveBackNow } from "./slots.js";

/** What tells one breaker from another. For several values, join them: `` `${account}/${region}` ``. */
export type Key = string | number | bigint | boolean;

export interface KeyedOptions extends BreakerOptions {
  /** How many keys are remembered; then closed ones are given up for new ones. Default 10,000. */
  maxKeys?: number | undefined;
}

/** How many keys are looked at to find one that can be given up. */
const LOOKS = 64;

interface Entry {
  readonly breaker: CircuitBreaker;
  readonly number: number;
  /** Asked for since it was last looked at. */
  used: boolean;
  /** Its calls that are under way, and one more as long as it is remembered. */
  holds: number;
  /** Somebody got hold of the breaker itself. */
  given: boolean;
}

/**
 * Breakers by key, each like the others. A closed one is given up when there are too many: rather
 * one that no call is using, that was not used lately, and that has no failure in a row. One that is
 * not closed, never.
 */
export class KeyedCircuitBreakers<K extends Key = string> {
  readonly #group: Group;
  /** The one of which the others are copies; it makes no call. */
  readonly #first: number;
  readonly #maxKeys: number;
  readonly #entries = new Map<K, Entry>();
  /** Stands before all of them: what it passes is given up, or put behind the others. */
  #hand: Iterator<[K, Entry]> | undefined;

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

  /** The keys that are remembered when it begins, with their breakers. */
  [Symbol.iterator](): IterableIterator<[K, CircuitBreaker]> {
    return Array.from(this.#entries, ([key, entry]): [K, CircuitBreaker] => [
      key,
      this.#give(entry),
    ]).values();
  }

  /**
   * The breaker of a key; the same one each time, until it is given up. Calls that are made through
   * it, and not by the key, don't keep it.
   */
  get(key: K): CircuitBreaker {
    return this.#give(this.#entry(key));
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
      return breakers.#through(key(...args), (breaker) => {
        let guarded = ways.get(breaker);
        if (!guarded) {
          guarded = breaker.wrap(f, options);
          ways.set(breaker, guarded);
        }
        return Reflect.apply(guarded, this, args);
      });
    } as Guarded<F>;
  }

  /** Makes a call through the breaker of a key. */
  call<T>(
    key: K,
    f: (context: CallContext) => T,
    options?: CallOptions<[]> & { signal?: AbortSignal | undefined },
  ): Promise<Awaited<T>> {
    return this.#through(key, (breaker) => breaker.call(f, options));
  }

  /**
   * Calls `listener` at each event of any of them; gives a function that ends this. One that is told
   * of a key may ask for others: none is given up for them, and nobody is told of them.
   */
  on<Type extends EventType>(type: Type, listener: Listener<Type>): () => void {
    return this.#group.listeners.add(type, listener);
  }

  async #through<T>(key: K, call: (breaker: CircuitBreaker) => Promise<T>): Promise<T> {
    const entry = this.#entry(key);
    entry.holds += 1;
    try {
      return await call(entry.breaker);
    } finally {
      this.#release(entry);
    }
  }

  #give(entry: Entry): CircuitBreaker {
    entry.given = true;
    return entry.breaker;
  }

  #entry(key: K): Entry {
    const known = this.#entries.get(key);
    if (known) {
      known.used = true;
      return known;
    }
    return this.#add(key);
  }

  #add(key: K): Entry {
    if (!["string", "number", "bigint", "boolean"].includes(typeof key)) {
      throw new TypeError(
        `circuit \`${this.name}\`: a key is of type ${typeof key}: expected text, a number, a bigint or a boolean`,
      );
    }
    const number = fork(this.#first);
    const breaker = new CircuitBreaker(new Member(this.#group, number, key));
    giveBack(breaker, number);
    const entry = { breaker, number, used: false, holds: 0, given: false };
    const full = this.#entries.size >= this.#maxKeys;
    // Or a listener that asks for the key of which it is told would go on for ever.
    const telling = full && !this.#group.listeners.telling?.startsWith("key");
    const evicted = telling ? this.#evict() : undefined;
    if (!full || evicted) {
      entry.holds = 1;
      this.#entries.set(key, entry);
    }
    if (telling) {
      // What listeners ask for may give this one up: it is held for whoever asked for it.
      entry.holds += 1;
      CircuitBreaker.tell((evicted ?? entry).breaker, evicted ? "keyEvicted" : "keysFull");
      entry.holds -= 1;
    }
    if (evicted) {
      this.#release(evicted);
    }
    return entry;
  }

  /** Gives up a key as the CLOCK algorithm does, if one of those it looks at can be. */
  #evict(): Entry | undefined {
    let least = 8;
    let best: Entry | undefined;
    this.#hand ??= this.#entries.entries();
    for (let looks = LOOKS; looks > 0 && least;) {
      const [key, entry]: [K, Entry] = this.#hand.next().value;
      // By what would be lost: a call under way, one that comes soon, a count.
      const worth = stateOf(wordOf(entry.number))
        ? 8
        : (entry.holds > 1 ? 4 : 0) + (entry.used ? 2 : 0) + (isIdle(entry.number) ? 0 : 1);
      if (worth < least) {
        least = worth;
        best = entry;
      } else if (entry === best) {
        break;
      }
      entry.used = false;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
      // For a count alone, few others are looked at.
      looks -= worth > 1 ? 1 : 8;
    }
    if (best) {
      this.#entries.delete(best.breaker.key as K);
    }
    return best;
  }

  #release(entry: Entry): void {
    entry.holds -= 1;
    if (!entry.holds && !entry.given) {
      giveBackNow(entry.breaker, entry.number);
    }
  }
}
