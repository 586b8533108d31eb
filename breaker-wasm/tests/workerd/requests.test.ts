// Requests side by side in one isolate: none waits for another's I/O, none is lost with another.

import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { type TestContext, describe, test } from "node:test";
import { Isolate } from "./isolate.js";
import { Origin } from "./origin.js";

const RESET = 10_000;
const PROBE_TIMEOUT = 20_000;
/** With the clock's resolution. */
const OVER = 1;

const PROGRAM = `
  import { CircuitBreaker, CircuitOpenError, KeyedCircuitBreakers } from "breaker-wasm";

  const options = { threshold: 1, reset: ${RESET}, probeTimeout: ${PROBE_TIMEOUT}, jitter: 0 };
  const one = new CircuitBreaker({ name: "one", ...options });
  const keys = new KeyedCircuitBreakers({ name: "keys", ...options });

  async function ask(url: string, signal?: AbortSignal): Promise<string> {
    const response = await fetch(url, signal ? { signal } : {});
    if (!response.ok) throw new Error(await response.text());
    return response.text();
  }
  const wrapped = one.wrap(ask);
  const byKey = keys.wrap(ask, () => "a");

  const ways: Record<string, (url: string, request: Request) => Promise<string>> = {
    call: (url) => one.call(() => ask(url)),
    wrap: (url) => wrapped(url),
    key: (url) => keys.call("a", () => ask(url)),
    keyed: (url) => byKey(url),
    timeout: (url) => one.call(({ signal }) => ask(url, signal), { timeout: ${PROBE_TIMEOUT} }),
    signal: (url, { signal }) => one.call((context) => ask(url, context.signal), { signal }),
  };

  export default {
    async fetch(request: Request, { ORIGIN }: { ORIGIN: string }): Promise<Response> {
      const way = ways[new URL(request.url).pathname.slice(1)]!;
      try {
        return new Response(await way(ORIGIN, request));
      } catch (error) {
        const said = error instanceof CircuitOpenError ? error.reason : (error as Error).message;
        return new Response(said, { status: 503 });
      }
    },
  };
`;

const WAYS = ["call", "wrap", "key", "keyed", "timeout", "signal"];

async function world(context: TestContext) {
  const origin = new Origin();
  const isolate = await Isolate.of(PROGRAM, {
    bindings: { ORIGIN: await origin.start() },
    compatibilityFlags: ["enable_request_signal"],
  });
  context.after(async () => {
    await isolate.stop();
    await origin.stop();
    // Such as that a request waited for what another one had begun.
    assert.deepEqual(isolate.complaints, []);
  });
  return { origin, isolate };
}

/** Opened by a failure, and its wait over. */
async function due(context: TestContext, way: string) {
  const it = await world(context);
  it.origin.answers = "badly";
  assert.deepEqual(await it.isolate.ask(way), { status: 503, body: "badly" });
  assert.deepEqual(await it.isolate.ask(way), { status: 503, body: "open" });
  await it.isolate.advance(RESET + OVER);
  it.origin.answers = "not";
  return it;
}

for (const way of WAYS) {
  describe(way, () => {
    test("a request is served while the I/O of another hangs", async (context) => {
      const { origin, isolate } = await world(context);
      origin.answers = "not";
      const arrival = origin.next("arrival");
      let hanging = true;
      const first = isolate.ask(way).finally(() => (hanging = false));
      await arrival;
      origin.answers = "well";
      for (let n = 0; n < 3; n += 1) {
        assert.deepEqual(await isolate.ask(way), { status: 200, body: "well" });
      }
      assert.ok(hanging);
      origin.release();
      assert.deepEqual(await first, { status: 200, body: "well" });
      assert.equal(origin.asked, 4);
    });

    test("while another request probes it is refused, and isn't made to wait", async (context) => {
      const { origin, isolate } = await due(context, way);
      const arrival = origin.next("arrival");
      const probe = isolate.ask(way);
      await arrival;
      for (let n = 0; n < 3; n += 1) {
        assert.deepEqual(await isolate.ask(way), { status: 503, body: "half_open_full" });
      }
      origin.answers = "well";
      origin.release();
      assert.deepEqual(await probe, { status: 200, body: "well" });
      assert.deepEqual(await isolate.ask(way), { status: 200, body: "well" });
    });

    test("a probe that hangs makes room for another request's, and decides no more", async (context) => {
      const { origin, isolate } = await due(context, way);
      const arrival = origin.next("arrival");
      const stuck = isolate.ask(way);
      await arrival;
      await isolate.advance(PROBE_TIMEOUT + OVER);
      origin.answers = "well";
      assert.deepEqual(await isolate.ask(way), { status: 200, body: "well" });
      origin.answers = "badly";
      origin.release();
      assert.deepEqual(await stuck, { status: 503, body: "badly" });
      origin.answers = "well";
      assert.deepEqual(await isolate.ask(way), { status: 200, body: "well" });
    });
  });
}

test("a request aborted while it probes gives the probe back, with its own signal", async (context) => {
  const { origin, isolate } = await due(context, "signal");
  const arrival = origin.next("arrival");
  const request = get(await isolate.url("signal"));
  await arrival;
  assert.deepEqual(await isolate.ask("signal"), { status: 503, body: "half_open_full" });
  const abortion = origin.next("abortion");
  // With a reset: that of a client that merely closed its side is noticed on the next write.
  request.socket?.resetAndDestroy();
  await assert.rejects(once(request, "response"));
  await abortion;
  origin.answers = "well";
  // Its time has not moved: it isn't the probe's timeout that makes room.
  assert.deepEqual(await isolate.ask("signal"), { status: 200, body: "well" });
  assert.deepEqual(await isolate.ask("signal"), { status: 200, body: "well" });
});
