// A clock that is zero, and stands still while a request computes or waits: as in an edge runtime,
// where it moves with I/O at most.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Isolate } from "./isolate.js";
import { Origin } from "./origin.js";

/** A request says what time it is, and how often to call which breaker: all at once, or in turn. */
const PROGRAM = `
  import { CircuitBreaker, CircuitOpenError, type BreakerOptions } from "breaker-wasm";

  let now = 0;
  const options = { reset: 10_000, jitter: 0, clock: () => now };
  const slow = { slow: 1, slowRate: 0.01, window: 100, minCalls: 1 };
  const made: Record<string, BreakerOptions> = {
    count: { name: "count", threshold: 3, ...options },
    rate: { name: "rate", failureRate: 0.5, minCalls: 4, window: "1s", ...options },
    slow: { name: "slow", failureRate: 1, ...slow, ...options },
  };
  const breakers: Record<string, CircuitBreaker> = {};

  export default {
    async fetch(request: Request, { ORIGIN }: { ORIGIN: string }): Promise<Response> {
      const { searchParams } = new URL(request.url);
      const name = searchParams.get("of")!;
      now = Number(searchParams.get("at"));
      const breaker = (breakers[name] ??= new CircuitBreaker(made[name]!));
      const ask = async () => {
        try {
          return await breaker.call(async () => {
            const response = await fetch(ORIGIN);
            const text = await response.text();
            if (!response.ok) throw new Error(text);
            return text;
          });
        } catch (error) {
          return error instanceof CircuitOpenError
            ? \`\${error.reason} \${error.retryAfter}\`
            : (error as Error).message;
        }
      };
      const fates: string[] = [];
      const times = Number(searchParams.get("times"));
      if (searchParams.has("together")) {
        fates.push(...(await Promise.all(Array.from({ length: times }, ask))));
      } else {
        for (let time = 0; time < times; time += 1) fates.push(await ask());
      }
      return Response.json({ fates, state: breaker.state });
    },
  };
`;

describe("while the clock stands still", () => {
  const origin = new Origin();
  let isolate: Isolate;
  before(async () => {
    isolate = await Isolate.of(PROGRAM, { bindings: { ORIGIN: await origin.start() } });
  });
  after(async () => {
    await isolate.stop();
    await origin.stop();
  });

  async function calls(query: string): Promise<{ fates: string[]; state: string }> {
    const { status, body } = await isolate.ask(`/?${query}`);
    assert.equal(status, 200, body);
    return JSON.parse(body) as { fates: string[]; state: string };
  }
  const times = (count: number, fate: string): string[] => Array<string>(count).fill(fate);

  test("at zero it opens, waits, and probes once the time is another", async () => {
    origin.answers = "badly";
    assert.deepEqual(await calls("of=count&at=0&times=1000"), {
      fates: [...times(3, "badly"), ...times(997, "open 10000")],
      state: "open",
    });
    assert.equal(origin.asked, 3);
    assert.deepEqual((await calls("of=count&at=0&times=2")).fates, times(2, "open 10000"));
    assert.deepEqual((await calls("of=count&at=9999&times=2")).fates, times(2, "open 1"));
    origin.answers = "well";
    const probing = await calls("of=count&at=10000&times=50&together");
    assert.deepEqual(probing, {
      fates: ["well", ...times(49, "half_open_full 60000")],
      state: "closed",
    });
    assert.equal(origin.asked, 4);
    assert.deepEqual((await calls("of=count&at=10000&times=3")).fates, times(3, "well"));
  });

  test("failures of one moment are in one window of time, and leave it together", async () => {
    origin.answers = "badly";
    assert.equal((await calls("of=rate&at=0&times=3")).state, "closed");
    origin.answers = "well";
    // 1 s later those are forgotten.
    assert.equal((await calls("of=rate&at=1000&times=3")).state, "closed");
    origin.answers = "badly";
    assert.deepEqual(await calls("of=rate&at=1000&times=4"), {
      fates: [...times(3, "badly"), "open 10000"],
      state: "open",
    });
  });

  test("no call is slow, whatever it waited for", async () => {
    origin.answers = "not";
    const arrival = origin.next("arrival");
    const waiting = calls("of=slow&at=5&times=1");
    await arrival;
    origin.answers = "well";
    origin.release();
    assert.deepEqual(await waiting, { fates: ["well"], state: "closed" });
    assert.equal((await calls("of=slow&at=5&times=100")).state, "closed");
  });

  test("a call that another request's time passed over is slow", async () => {
    origin.answers = "not";
    const arrival = origin.next("arrival");
    const waiting = calls("of=slow&at=10&times=1");
    await arrival;
    origin.answers = "well";
    await calls("of=slow&at=12&times=0");
    origin.release();
    assert.deepEqual(await waiting, { fates: ["well"], state: "open" });
  });
});
