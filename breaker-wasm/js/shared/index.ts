/** What the entry `breaker-wasm/durable-object` gives. */

export { BreakerObject } from "./object.js";
export { type SharedBreaker, sharedBreaker } from "./breaker.js";
export type { SharedOptions } from "./options.js";
export type { ObjectNamespace, ObjectState, RequestContext } from "./platform.js";
