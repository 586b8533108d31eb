/** What every entry of the package gives. */

export { CircuitBreaker, type Guarded } from "./breaker.js";
export type { Duration } from "./duration.js";
export { CircuitOpenError, TimeoutError } from "./errors.js";
export type { Events, EventType, Listener, StateChange } from "./events.js";
export { type Key, KeyedCircuitBreakers, type KeyedOptions } from "./keyed.js";
export type { CallContext } from "./limit.js";
export type { Reason, State, Trigger } from "./names.js";
export type { BreakerOptions, CallOptions, Settings } from "./options.js";
export type { Judge, Outcome, Overloaded } from "./outcome.js";
export type { Snapshot } from "./snapshot.js";
