/** How long a call may take, and who may call it off. */

/** The longest delay that timers take; beyond it they fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1;

/** What a call gets that `call` makes. */
export class CallContext {
  #controller: AbortController | undefined;
  #reason: [unknown] | undefined;

  /** Aborted when the call times out, and with the signal that `call` got. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) {
        this.#controller.abort(this.#reason[0]);
      }
    }
    return this.#controller.signal;
  }

  /** @internal */
  static abort(context: CallContext | undefined, reason: unknown): void {
    if (context) {
      context.#reason = [reason];
      context.#controller?.abort(reason);
    }
  }
}

/**
 * What `start` gives, unless it takes longer than `timeout` milliseconds or `signal` is aborted
 * before. A call that is ready at once costs no timer. `tooLate` goes with `timeout`.
 */
export function limited(
  start: () => unknown,
  timeout: number | undefined,
  signal: AbortSignal | undefined,
  context?: CallContext,
  tooLate?: () => Error,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    const end =
      <T>(settle: (value: T) => void) =>
      (value: T) => {
        ended = true;
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        settle(value);
      };
    const giveUp = end((reason) => {
      reject(reason);
      CallContext.abort(context, reason);
    });
    const abort = () => giveUp(signal!.reason);
    const wait = (left: number) => {
      timer = setTimeout(
        () => (left > LONGEST_DELAY ? wait(left - LONGEST_DELAY) : giveUp(tooLate!())),
        Math.min(left, LONGEST_DELAY),
      );
    };
    Promise.resolve(start()).then(end(resolve), end(reject));
    if (signal) {
      signal.addEventListener("abort", abort);
      if (signal.aborted) {
        abort();
      }
    }
    if (timeout) {
      // After the reaction of a promise that is settled already.
      queueMicrotask(() => ended || wait(timeout));
    }
  });
}
