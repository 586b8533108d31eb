// The worker under time that the test moves: its clock stands still until a request with
// `x-advance` comes, and its timers go by that clock. They are polled by an interval of the
// request's own, as in workerd nothing of another request may call them.
import worker from "worker-under-test";

let now = 1_000_000;

performance.now = () => now;
Date.now = () => now;

const steered = (callback: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): unknown => {
  const due = now + ms;
  const poll = setInterval(() => {
    if (now >= due) {
      clearInterval(poll);
      callback(...args);
    }
  }, 1);
  return poll;
};
Object.assign(globalThis, { setTimeout: steered, clearTimeout: clearInterval });

export default {
  async fetch(request: Request, env: unknown, context: unknown): Promise<Response> {
    const advance = request.headers.get("x-advance");
    if (advance !== null) {
      now += Number(advance);
      return new Response(String(now));
    }
    return worker.fetch(request, env, context);
  },
};
