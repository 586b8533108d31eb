/** What tests of several topics need. */

import assert from "node:assert/strict";
import { type BreakerOptions, CircuitBreaker, type Settings } from "breaker-wasm";

/** A clock that is set by hand. */
export class ManualClock {
  now = 0;
  readonly read = (): number => this.now;
}

/** A breaker that one failure opens for 1 s, exactly, on a clock that is set by hand. */
export function breakerAt(
  clock: ManualClock,
  options: Partial<BreakerOptions> = {},
): CircuitBreaker {
  const { failureRate } = options;
  const decides: Settings = failureRate === undefined ? { threshold: 1 } : {};
  return new CircuitBreaker({
    name: "pms",
    reset: 1000,
    jitter: 0,
    clock: clock.read,
    ...decides,
    ...options,
  });
}

/** A failure of what is guarded. */
export class Down extends Error {
  constructor(readonly status = 503) {
    super("down");
  }
}

export const succeed = async (): Promise<string> => "fresh";
export const fail = async (): Promise<never> => {
  throw new Down();
};

/** What an `await` takes for a promise. */
export const thenable = (
  then: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => unknown,
): object => ({ then });

/** Each way in which a function may fail with an error. */
export const waysToFail = (error: unknown): [how: string, f: () => unknown][] => {
  const fails = (): never => {
    throw error;
  };
  return [
    ["throws", fails],
    ["rejects", () => Promise.reject(error)],
    ["rejects later", () => new Promise((_, reject) => setImmediate(reject, error))],
    ["gives a thenable that rejects", () => thenable((_, reject) => reject(error))],
    ["gives a thenable that throws", () => thenable(fails)],
    [
      "gives a thenable of a promise that rejects",
      () => thenable((resolve) => resolve(Promise.reject(error))),
    ],
    ["gives what can't be looked at", () => Object.defineProperty({}, "then", { get: fails })],
  ];
};

/** What a call came to: its answer, or the error it was rejected with. */
export async function ended(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    return error;
  }
}

/** A call that ends when it is told to. */
export class Held<T = unknown> {
  resolve!: (answer: T) => void;
  reject!: (error: unknown) => void;
  calls = 0;
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
  readonly run = (): Promise<T> => {
    this.calls += 1;
    return this.promise;
  };
}

/** Everything that was due has run: reactions of promises, and those of those. */
export const idle = (): Promise<void> => new Promise((done) => setImmediate(done));

/** Whether a promise is settled, once everything that was due has run. */
export async function isPending(promise: PromiseLike<unknown>): Promise<boolean> {
  let pending = true;
  const settled = (): void => {
    pending = false;
  };
  promise.then(settled, settled);
  await idle();
  return pending;
}

/** Opens it by one failure. */
export async function trip(breaker: CircuitBreaker): Promise<void> {
  assert.ok((await ended(breaker.call(fail))) instanceof Down);
  assert.equal(breaker.state, "open");
}

/** Unhandled rejections while `work` runs, and until everything that was due has run. */
export async function unhandledDuring(work: () => unknown): Promise<unknown[]> {
  const unhandled: unknown[] = [];
  const before = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => unhandled.push(error));
  try {
    await work();
    await idle();
    await idle();
  } finally {
    process.removeAllListeners("unhandledRejection");
    for (const listener of before) process.on("unhandledRejection", listener);
  }
  return unhandled;
}

/** What is written to the console's errors while `work` runs. */
export async function consoleErrorsDuring(work: () => unknown): Promise<unknown[]> {
  const written: unknown[] = [];
  const before = console.error;
  console.error = (...what: unknown[]) => void written.push(...what);
  try {
    await work();
    await idle();
  } finally {
    console.error = before;
  }
  return written;
}
