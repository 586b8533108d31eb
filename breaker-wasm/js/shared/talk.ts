/** Reaching the object. */

import { CallContext, limited } from "../limit.js";
import type { ObjectNamespace } from "./platform.js";
import { type Answer, type Message, readAnswer } from "./protocol.js";

/** Any: the object looks at no path. */
const URL = "https://breaker.invalid/";

/**
 * Says it to the object of this name, whose stub lives no longer than that. Rejects if there is no
 * sensible answer within `limit` milliseconds.
 */
export function talk(
  namespace: ObjectNamespace,
  name: string,
  message: Message,
  limit: number,
): Promise<Answer> {
  const context = new CallContext();
  const ask = async (): Promise<Answer> => {
    const body = JSON.stringify(message);
    const stub = namespace.get(namespace.idFromName(name));
    const answer = await stub.fetch(URL, { method: "POST", body, signal: context.signal });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`the Durable Object answered ${answer.status}: ${text.slice(0, 200)}`);
    }
    return readAnswer(text);
  };
  const tooLate = () => new Error(`the Durable Object did not answer within ${limit} ms`);
  return limited(ask, limit, undefined, context, tooLate) as Promise<Answer>;
}
