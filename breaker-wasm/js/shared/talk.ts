/** Reaching the object. */

import type { ObjectNamespace } from "./platform.js";
import { type Answer, type Message, readAnswer } from "./protocol.js";

/** Any: the object looks at no path. */
const URL = "https://breaker.invalid/";

/**
 * Says it to the object of this name, whose stub lives no longer than that. Rejects if there is no
 * sensible answer within `limit` milliseconds.
 */
export async function talk(
  namespace: ObjectNamespace,
  name: string,
  message: Message,
  limit: number,
): Promise<Answer> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`the Durable Object did not answer within ${limit} ms`);
      reject(error);
      controller.abort(error);
    }, limit);
  });
  const ask = async (): Promise<Answer> => {
    const body = JSON.stringify(message);
    const stub = namespace.get(namespace.idFromName(name));
    const answer = await stub.fetch(URL, { method: "POST", body, signal: controller.signal });
    const text = await answer.text();
    if (!answer.ok) {
      throw new Error(`the Durable Object answered ${answer.status}: ${text.slice(0, 200)}`);
    }
    return readAnswer(text);
  };
  try {
    return await Promise.race([ask(), late]);
  } finally {
    clearTimeout(timer);
  }
}
