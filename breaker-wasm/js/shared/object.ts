/** The Durable Object: what all isolates know of a circuit, and who of them may probe. */

import type { ObjectState, ObjectStorage } from "./platform.js";
import { Nonsense, readMessage } from "./protocol.js";
import { type CircuitRecord, answer, begin, decide, stampedBy } from "./record.js";

const KEY = "circuit";

/**
 * The Durable Object class of shared circuits, one object for each name. A worker exports it, and
 * binds it in its configuration:
 *
 * ```ts
 * export { BreakerObject } from "breaker-wasm/durable-object";
 * ```
 */
export class BreakerObject {
  readonly #storage: ObjectStorage;

  constructor(state: ObjectState, _env?: unknown) {
    this.#storage = state.storage;
  }

  /** Milliseconds since an origin that is the same after the object was evicted. */
  now(): number {
    return Date.now();
  }

  /** Answers `sharedBreaker`; anything else with 400 or 405, and keeps nothing of it. */
  async fetch(request: Request): Promise<Response> {
    if (request.method !== "POST") {
      return new Response("expected POST", { status: 405, headers: { allow: "POST" } });
    }
    try {
      const message = readMessage(await request.text());
      // Nothing waits between the storage's answer and the writing, so no other message comes between.
      const kept = (await this.#storage.get(KEY)) as CircuitRecord | undefined;
      const now = this.now();
      const before = kept ? stampedBy(now, kept) : begin(crypto.randomUUID(), now);
      const [record, done] = decide(before, message, now);
      if (record !== kept) {
        await this.#storage.put(KEY, record);
      }
      return Response.json(answer(record, done, now));
    } catch (error) {
      if (error instanceof Nonsense) {
        return new Response(error.message, { status: 400 });
      }
      throw error;
    }
  }
}
