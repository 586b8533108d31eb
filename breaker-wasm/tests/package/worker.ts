// What the author of a worker writes, with Cloudflare's own types (`types.test.ts`).

import { sharedBreaker } from "breaker-wasm/durable-object";

export { BreakerObject } from "breaker-wasm/durable-object";

interface Env {
  readonly BREAKERS: DurableObjectNamespace;
}

export default {
  async fetch(request, env, ctx) {
    const pms = sharedBreaker(env.BREAKERS, "pms", { reset: "30s", timeout: "2s" }, ctx);
    return pms.call(({ signal }) => fetch(request, { signal }));
  },
} satisfies ExportedHandler<Env>;
