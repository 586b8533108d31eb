// A worker in workerd and a PMS that fails, judged by what the PMS was asked. The same for
// each half.
import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";

import { Pms } from "../pms.ts";
import { HALVES, start, type Settings } from "../worker.ts";

/** The worker that these tests are of, under time that they move. */
const underTest = ((): Settings => {
  const half = HALVES.find((half) => half === process.env["EDGE_WORKER"]);
  const built = process.env["EDGE_WORKER_BUILT"];
  if (half === undefined || built === undefined) {
    throw new Error("`EDGE_WORKER` is not set: run these tests by `cargo xtask test`");
  }
  return { half, built, around: fileURLToPath(new URL("steered.ts", import.meta.url)) };
})();

/** What the worker is set to. */
const THRESHOLD = 3;
const TIMEOUT = 2_000;
const RESET = 10_000;
/** With the most jitter, and the clock's resolution. */
const SURELY_RESET = 11_002;
const PROBE_TIMEOUT = 20_000;

interface Answer {
  status: number;
  stale: string | null;
  retryAfter: string | null;
  body: { hotel?: string; rooms?: number; stale?: boolean; breaker?: string; error?: string };
}

/** A worker in an isolate of its own; `elsewhere` is asked instead of the PMS, `null`: none is set. */
async function world(context: TestContext, elsewhere?: string | null) {
  const pms = new Pms();
  const started = await pms.start();
  const pmsUrl = elsewhere === undefined ? started : elsewhere;
  const worker = await start(pmsUrl === null ? underTest : { ...underTest, pmsUrl });
  context.after(async () => {
    await worker.dispose();
    await pms.stop();
  });
  const url = (await worker.ready).origin;
  const ask = async (hotel: string): Promise<Answer> => {
    const response = await fetch(`${url}/inventory/${hotel}`);
    return {
      status: response.status,
      stale: response.headers.get("x-stale"),
      retryAfter: response.headers.get("retry-after"),
      body: (await response.json()) as Answer["body"],
    };
  };
  const advance = async (ms: number): Promise<void> => {
    const moved = await fetch(url, { headers: { "x-advance": String(ms) } });
    await moved.text();
  };
  return { pms, ask, advance, url };
}

/** Asked for a good answer, and then failed until it is open. */
async function tripped(context: TestContext) {
  const it = await world(context);
  await it.ask("H1");
  it.pms.mode = "failing";
  for (let call = 0; call < THRESHOLD; call += 1) {
    await it.ask("H1");
  }
  assert.equal(it.pms.log.length, 1 + THRESHOLD);
  it.pms.log.length = 0;
  return it;
}

const lastGood = (breaker: string): Partial<Answer> => ({
  status: 200,
  stale: "true",
  body: { hotel: "H1", rooms: 7, stale: true, breaker },
});

test("a healthy PMS is asked each time", async (context) => {
  const { pms, ask } = await world(context);
  for (const rooms of [7, 6]) {
    pms.rooms = rooms;
    assert.deepEqual(await ask("H1"), {
      status: 200,
      stale: "false",
      retryAfter: null,
      body: { hotel: "H1", rooms, stale: false, breaker: "closed" },
    });
  }
  assert.deepEqual(
    pms.log.map((asked) => asked.hotel),
    ["H1", "H1"],
  );
});

test("it opens after the threshold, and then the PMS is asked nothing", async (context) => {
  const { pms, ask } = await world(context);
  await ask("H1");
  pms.mode = "failing";
  for (const breaker of ["closed", "closed", "open", "open", "open"]) {
    assert.deepEqual(await ask("H1"), { retryAfter: null, ...lastGood(breaker) });
  }
  assert.deepEqual(
    pms.log.map((asked) => asked.status),
    [200, 500, 500, 500],
  );
});

test("where nothing can be served it is a 503 that says when to come back", async (context) => {
  const { pms, ask, advance } = await tripped(context);
  const refused = await ask("H2");
  assert.equal(refused.status, 503);
  assert.equal(refused.stale, null);
  assert.equal(refused.body.breaker, "open");
  const after = Number(refused.retryAfter);
  assert.ok(after >= RESET / 1_000 && after <= 12, `${after}`);
  await advance(after * 1_000);
  pms.mode = "healthy";
  assert.equal((await ask("H2")).status, 200);
});

test("a failure without a last good answer is a 503 too", async (context) => {
  const { pms, ask } = await world(context);
  pms.mode = "failing";
  const failed = await ask("H1");
  assert.equal(failed.status, 503);
  assert.equal(failed.retryAfter, "1");
  assert.deepEqual(failed.body, { error: "the PMS answered 500", breaker: "closed" });
});

test("after the wait it probes, and closes", async (context) => {
  const { pms, ask, advance } = await tripped(context);
  pms.mode = "healthy";
  pms.rooms = 3;
  await advance(RESET - 1);
  assert.deepEqual(await ask("H1"), { retryAfter: null, ...lastGood("open") });
  assert.equal(pms.log.length, 0);
  await advance(SURELY_RESET - RESET + 1);
  assert.deepEqual(await ask("H1"), {
    status: 200,
    stale: "false",
    retryAfter: null,
    body: { hotel: "H1", rooms: 3, stale: false, breaker: "closed" },
  });
  assert.equal(pms.log.length, 1);
});

test("a probe that fails opens it again", async (context) => {
  const { pms, ask, advance } = await tripped(context);
  await advance(SURELY_RESET);
  for (let call = 0; call < 3; call += 1) {
    assert.deepEqual(await ask("H1"), { retryAfter: null, ...lastGood("open") });
  }
  assert.equal(pms.log.length, 1);
});

test("a 404 passes, and never counts", async (context) => {
  const { pms, ask } = await world(context);
  pms.mode = "unknown";
  for (let call = 0; call < 3 * THRESHOLD; call += 1) {
    const { status, body } = await ask("nowhere");
    assert.equal(status, 404);
    assert.deepEqual(body, { error: "the PMS knows no such hotel", breaker: "closed" });
  }
  assert.equal(pms.log.length, 3 * THRESHOLD);
});

test("one that hangs is left after the timeout, and counts", async (context) => {
  const { pms, ask, advance } = await world(context);
  await ask("H1");
  pms.mode = "hanging";
  for (const breaker of ["closed", "closed", "open"]) {
    const arrival = pms.arrival();
    const asking = ask("H1");
    await arrival;
    const abortion = pms.abortion();
    await advance(TIMEOUT);
    assert.deepEqual(await asking, { retryAfter: null, ...lastGood(breaker) });
    await abortion;
  }
  assert.deepEqual(await ask("H1"), { retryAfter: null, ...lastGood("open") });
  assert.deepEqual(
    pms.log.slice(1).map((asked) => asked.aborted),
    [true, true, true],
  );
});

test("a request aborted while it probes does not wedge it", async (context) => {
  const { pms, ask, advance, url } = await tripped(context);
  await advance(SURELY_RESET);
  pms.mode = "hanging";
  const arrival = pms.arrival();
  const probe = get(`${url}/inventory/H1`);
  await arrival;
  const abortion = pms.abortion();
  // With a reset: that of a client that merely closed its side is noticed on the next write.
  probe.socket?.resetAndDestroy();
  await assert.rejects(once(probe, "response"));
  await abortion;

  pms.mode = "healthy";
  await advance(PROBE_TIMEOUT - 1);
  assert.deepEqual(await ask("H1"), { retryAfter: null, ...lastGood("half_open") });
  assert.equal(pms.log.length, 1);
  await advance(2);
  const answer = await ask("H1");
  assert.equal(answer.body.breaker, "closed");
  assert.equal(answer.body.stale, false);
  assert.equal(pms.log.length, 2);
});

test("of many requests at once, one probes", async (context) => {
  const { pms, ask, advance } = await tripped(context);
  const many = (): Promise<Answer[]> => Promise.all(Array.from({ length: 50 }, () => ask("H1")));
  for (const answer of await many()) {
    assert.equal(answer.stale, "true");
  }
  assert.equal(pms.log.length, 0);

  await advance(SURELY_RESET);
  pms.mode = "hanging";
  const arrival = pms.arrival();
  const asking = many();
  await arrival;
  const others = Promise.race([asking, ask("H1")]);
  assert.deepEqual(await others, { retryAfter: null, ...lastGood("half_open") });
  await advance(TIMEOUT);
  assert.ok((await asking).every((answer) => answer.stale === "true"));
  assert.equal(pms.log.length, 1);

  await advance(SURELY_RESET);
  pms.mode = "healthy";
  const answers = await many();
  assert.ok(answers.every((answer) => answer.status === 200));
  assert.equal((await ask("H1")).body.breaker, "closed");
});

test("many at once while it is closed: all are asked, and it opens once", async (context) => {
  const { pms, ask } = await world(context);
  pms.mode = "failing";
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => ask(`H${n}`)));
  assert.ok(answers.every((answer) => answer.status === 503));
  assert.ok(pms.log.length >= THRESHOLD && pms.log.length <= 50);
  const asked = pms.log.length;
  assert.equal((await ask("H1")).body.breaker, "open");
  assert.equal(pms.log.length, asked);
});

test("bad input is answered, and asks the PMS nothing", async (context) => {
  const { pms, ask, url } = await world(context);
  for (const name of ["a%2Fb", "h".repeat(41), "%F0%9F%8F%A8", "a.b"]) {
    const { status, body } = await ask(name);
    assert.equal(status, 400, name);
    assert.match(body.error ?? "", /^a hotel's name is/);
  }
  const elsewhere = await fetch(`${url}/rooms`);
  assert.equal(elsewhere.status, 404);
  const posted = await fetch(`${url}/inventory/H1`, { method: "POST" });
  assert.equal(posted.status, 405);
  assert.equal(pms.log.length, 0);
});

test("without a PMS's URL, or one that is none, it says so", async (context) => {
  for (const pmsUrl of [null, "", "pms.example", "mailto:pms"]) {
    const { ask } = await world(context, pmsUrl);
    const { status, body } = await ask("H1");
    assert.equal(status, 500, String(pmsUrl));
    assert.match(body.error ?? "", /`PMS_URL`/);
  }
});

test("a PMS that nobody listens at is an outage", async (context) => {
  const { ask } = await world(context, "http://127.0.0.1:1");
  for (let call = 0; call < THRESHOLD; call += 1) {
    assert.equal((await ask("H1")).status, 503);
  }
  assert.equal((await ask("H1")).body.breaker, "open");
});

test("by the runtime's own clock and timers", async (context) => {
  const pms = new Pms();
  const pmsUrl = await pms.start();
  const { half, built } = underTest;
  const worker = await start({ half, built, pmsUrl });
  context.after(async () => {
    await worker.dispose();
    await pms.stop();
  });
  pms.mode = "failing";
  for (let call = 0; call < THRESHOLD; call += 1) {
    const failed = await worker.dispatchFetch("http://worker/inventory/H1");
    assert.match(await failed.text(), /the PMS answered 500/);
  }
  const refused = await worker.dispatchFetch("http://worker/inventory/H1");
  assert.equal(refused.status, 503);
  const after = Number(refused.headers.get("retry-after"));
  assert.ok(after >= 1 && after <= 12, `${after}`);
  assert.equal(pms.log.length, THRESHOLD);
});
