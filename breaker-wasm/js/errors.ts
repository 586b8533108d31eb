import type { Reason } from "./names.js";

/** How a breaker is called in messages: `pms`, or `pms[H1]`. */
export function label(name: string, key: unknown): string {
  return key === undefined ? name : `${name}[${String(key)}]`;
}

const seconds = (millis: number): string => `${Math.ceil(millis) / 1e3}s`;

const WHY: Record<Reason, string> = {
  open: "open",
  half_open_full: "half-open and its probes are in flight",
  forced_open: "held open by an operator",
};

/** A call was refused and not made: its circuit is open. */
export class CircuitOpenError extends Error {
  declare readonly name: "CircuitOpenError";

  constructor(
    /** The name of the breaker. */
    readonly breaker: string,
    /** The key of the breaker, if it is one of many. */
    readonly key: unknown,
    readonly reason: Reason,
    /** Milliseconds until a call may be admitted; `undefined` where only an operator can tell. */
    readonly retryAfter: number | undefined,
  ) {
    super(
      `circuit \`${label(breaker, key)}\` is ${WHY[reason]}` +
        (retryAfter === undefined ? "" : `: retry in ${seconds(retryAfter)}`),
    );
  }
}

/** A call took longer than `timeout` and was given up. */
export class TimeoutError extends Error {
  declare readonly name: "TimeoutError";

  constructor(
    /** The name of the breaker. */
    readonly breaker: string,
    /** The key of the breaker, if it is one of many. */
    readonly key: unknown,
    /** Milliseconds. */
    readonly timeout: number,
  ) {
    super(`call through circuit \`${label(breaker, key)}\` timed out after ${seconds(timeout)}`);
  }
}

for (const [error, name] of [
  [CircuitOpenError, "CircuitOpenError"],
  [TimeoutError, "TimeoutError"],
] as const) {
  Object.defineProperty(error.prototype, "name", { value: name });
}

/** Makes an error without a stack, which costs more than the refusal itself. */
export function cheaply<E>(make: () => E): E {
  const before = Error.stackTraceLimit;
  try {
    Error.stackTraceLimit = 0;
  } catch {
    // A realm whose intrinsics are frozen has the stack.
    return make();
  }
  try {
    return make();
  } finally {
    Error.stackTraceLimit = before;
  }
}
