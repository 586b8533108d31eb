// The worker under time that the test moves: it stands still until a request with `x-advance`
// comes. Its timers are the runtime's own.
import worker from "worker-under-test";

let now = 1_000_000;

performance.now = () => now;
Date.now = () => now;

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
