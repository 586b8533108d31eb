/** Probes of a shared circuit: made by the isolate that has the lease, of which there is one. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { LEASE, MAX_AGE, RESET } from "./command.js";
import { Fleet, holding } from "./fleet.js";

/** Opened, the wait is over, and isolate `a` has the lease. */
async function leased(fleet: Fleet): Promise<void> {
  await fleet.waited();
  assert.deepEqual((await fleet.a.run("succeed")).ended, ["refused"]);
  assert.equal((await fleet.kept()).state, "half_open");
  await fleet.asked();
}

test("after the wait a call is refused while the lease is fetched; the next probes", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b, c } = fleet;
  await fleet.tripped();
  await fleet.advance(RESET - MAX_AGE - 1);
  await fleet.asked();
  const early = await a.run("succeed");
  assert.deepEqual([early.ended, early.retryAfter], [["refused"], 1]);
  assert.ok(!(await fleet.asked()).includes("lease"), "before the wait is over none is asked for");

  await fleet.advance(1);
  await fleet.steer({ mode: "held" });
  const refused = await a.run("succeed", { context: "real" });
  assert.deepEqual([refused.ended, refused.retryAfter, refused.made], [["refused"], 0, 0]);
  assert.deepEqual(await fleet.asked(), ["lease"]);
  assert.deepEqual((await a.run("succeed", { context: "real" })).ended, ["refused"]);
  assert.deepEqual(await fleet.asked(), [], "it is on its way");
  await fleet.steer({ mode: "well", release: true });
  while ((await fleet.kept()).state !== "half_open");

  let probe = await a.run("succeed");
  while (probe.made === 0) probe = await a.run("succeed");
  assert.deepEqual([probe.ended, probe.after], [["fresh"], "closed"]);
  assert.equal((await fleet.kept()).state, "closed");
  await fleet.advance(MAX_AGE);
  for (const isolate of [b, c]) {
    await isolate.run("succeed");
    assert.deepEqual((await isolate.run("succeed")).ended, ["fresh"]);
  }
  assert.deepEqual(fleet.complaints, []);
});

test("of all isolates that ask, one has the lease", async (context) => {
  const fleet = await Fleet.start(context);
  const isolates = [fleet.a, fleet.b, fleet.c];
  await fleet.waited();
  const asking = await Promise.all(isolates.map((isolate) => isolate.run("succeed")));
  assert.deepEqual(
    asking.map(({ ended, events }) => [ended, events]),
    isolates.map(() => [["refused"], []]),
  );
  const probing = await Promise.all(isolates.map((isolate) => isolate.run(["fail", "fail"])));
  assert.equal(
    probing.reduce((sum, { made }) => sum + made, 0),
    1,
  );
  assert.equal((await fleet.kept()).reopenings, 1);
});

test("of many calls in the isolate that has it, one probes", async (context) => {
  const fleet = await Fleet.start(context);
  const [origin, url] = await holding(context);
  await leased(fleet);
  const arrival = origin.next("arrival");
  const probe = fleet.a.run({ ask: url });
  await arrival;
  const others = await Promise.all(Array.from({ length: 10 }, () => fleet.a.run("succeed")));
  assert.ok(others.every(({ ended, state }) => ended[0] === "refused" && state === "half_open"));
  origin.answers = "well";
  origin.release();
  assert.deepEqual((await probe).after, "closed");
});

test("a probe that fails opens it for all, for the longer wait", async (context) => {
  const fleet = await Fleet.start(context);
  fleet.options = { backoff: 2 };
  const { a, b, c } = fleet;
  await leased(fleet);
  await a.run("fail");
  assert.deepEqual(await fleet.asked(), ["changed"]);
  const { state, lasts, reopenings } = await fleet.kept();
  assert.deepEqual([state, lasts, reopenings], ["open", 2 * RESET, 1]);

  await fleet.advance(MAX_AGE);
  await b.run("succeed");
  assert.equal((await b.run("succeed")).retryAfter, 2 * RESET - MAX_AGE);
  await fleet.advance(2 * RESET - MAX_AGE);
  await b.run("succeed");
  assert.deepEqual((await b.run("fail")).ended, ["down"]);
  assert.equal((await fleet.kept()).lasts, 4 * RESET);
  await fleet.advance(MAX_AGE);
  await c.run("succeed");
  assert.equal((await c.run("succeed")).retryAfter, 4 * RESET - MAX_AGE);
});

for (const [step, ended] of [
  ["ignore", "unknown"],
  ["give up", "given up"],
] as const) {
  test(`a probe that decides nothing gives the lease back: ${step}`, async (context) => {
    const fleet = await Fleet.start(context);
    const { a, b } = fleet;
    await leased(fleet);
    const probe = await a.run(step);
    assert.deepEqual([probe.ended, probe.made], [[ended], 1]);
    assert.deepEqual(await fleet.asked(), ["undecided"]);
    const { state, lasts, reopenings } = await fleet.kept();
    assert.deepEqual([state, lasts, reopenings], ["open", 0, 0]);
    assert.deepEqual((await b.run(["succeed"])).ended, ["refused"]);
    assert.deepEqual((await b.run(["succeed"])).ended, ["fresh"]);
    assert.equal((await fleet.kept()).state, "closed");
  });
}

test("an aborted probe is a failure where that was said", async (context) => {
  const fleet = await Fleet.start(context);
  fleet.options = { onCancel: "failure" };
  await leased(fleet);
  await fleet.a.run("give up");
  assert.deepEqual(await fleet.asked(), ["changed"]);
  assert.equal((await fleet.kept()).reopenings, 1);
});

test("a lease whose isolate is gone expires, and not before", async (context) => {
  const fleet = await Fleet.start(context);
  const [origin, url] = await holding(context);
  const { a, b } = fleet;
  await leased(fleet);
  const arrival = origin.next("arrival");
  const leaving = origin.next("abortion");
  const probe = await a.request({ ask: url });
  await arrival;
  // With a reset: that of a client that merely closed its side is noticed on the next write.
  probe.socket?.resetAndDestroy();
  await assert.rejects(once(probe, "response"));
  await leaving;

  for (const passes of [0, LEASE / 2, LEASE / 2 - 1]) {
    await fleet.advance(passes);
    for (const isolate of [a, b]) {
      assert.deepEqual((await isolate.run(["succeed", "succeed"])).made, 0);
    }
  }
  await fleet.advance(1);
  assert.deepEqual((await b.run("succeed")).ended, ["refused"]);
  assert.deepEqual((await b.run("succeed")).ended, ["fresh"]);
  assert.equal((await fleet.kept()).state, "closed");
  await fleet.advance(MAX_AGE);
  await a.run("succeed");
  assert.deepEqual((await a.run("succeed")).ended, ["fresh"]);
});

test("what a probe says after its lease is another's counts for nothing", async (context) => {
  const fleet = await Fleet.start(context);
  const [origin, url] = await holding(context);
  const { a, b } = fleet;
  await leased(fleet);
  const arrival = origin.next("arrival");
  const late = a.run({ ask: url });
  await arrival;
  await fleet.advance(LEASE);
  await b.run("succeed");
  await b.run("fail");
  const before = await fleet.kept();
  assert.deepEqual([before.state, before.reopenings], ["open", 1]);
  origin.answers = "well";
  origin.release();
  const { ended, after } = await late;
  assert.deepEqual([ended, after], [["fresh"], "open"]);
  assert.deepEqual(await fleet.kept(), before);
});

test("a lease outlives the object that granted it", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b, c } = fleet;
  await leased(fleet);
  await assert.rejects(fleet.steer({ restart: true }));
  await fleet.advance(0);
  assert.deepEqual((await b.run(["succeed", "succeed"])).made, 0);
  // Every isolate is gone too, the one with the lease among them.
  await fleet.restart();
  await fleet.advance(LEASE - 1);
  for (const isolate of [a, b, c]) {
    assert.deepEqual((await isolate.run(["succeed", "succeed"])).made, 0);
  }
  await fleet.advance(1);
  await c.run("succeed");
  assert.deepEqual((await c.run("succeed")).ended, ["fresh"]);
});

test("a lease that was not used in time is not used", async (context) => {
  const fleet = await Fleet.start(context);
  await leased(fleet);
  await fleet.advance(LEASE);
  const { ended, after } = await fleet.a.run("succeed");
  assert.deepEqual([ended, after], [["refused"], "open"]);
  assert.deepEqual(await fleet.asked(), ["lease"]);
  assert.deepEqual((await fleet.a.run("succeed")).ended, ["fresh"]);
});

test("a lease ends with what an operator does", async (context) => {
  const fleet = await Fleet.start(context);
  const { a } = fleet;
  await leased(fleet);
  await a.run({ openFor: 1_000 });
  await fleet.advance(1_000);
  assert.deepEqual((await a.run("succeed")).ended, ["refused"]);
  assert.deepEqual((await a.run("succeed")).ended, ["fresh"]);
});

test("a lease begins when it is asked for, however long the answer takes", async (context) => {
  const fleet = await Fleet.start(context);
  const { a } = fleet;
  await fleet.waited();
  await fleet.asked();
  await fleet.steer({ mode: "held" });
  const asking = a.run("succeed");
  await fleet.askedFor("lease");
  await fleet.advance(LEASE - 1);
  await a.run([]);
  await fleet.steer({ mode: "well", release: true });
  await asking;
  await fleet.advance(1);
  assert.deepEqual((await a.run("succeed")).ended, ["refused"]);
});

test("a trial of several probes is one lease's", async (context) => {
  const fleet = await Fleet.start(context);
  fleet.options = { closeAfter: 3 };
  const { a, b } = fleet;
  await leased(fleet);
  assert.equal((await a.run("succeed")).after, "half_open");
  assert.equal((await a.run("ignore")).after, "half_open", "others have counted");
  assert.deepEqual((await b.run(["succeed", "succeed"])).made, 0);
  assert.deepEqual((await a.run(["succeed", "succeed"])).after, "closed");
  assert.equal((await fleet.kept()).state, "closed");
});

test("a further probe needs an unexpired lease as well", async (context) => {
  const fleet = await Fleet.start(context);
  fleet.options = { closeAfter: 3 };
  const { a } = fleet;
  await leased(fleet);
  await a.run("succeed");
  await fleet.advance(LEASE);
  assert.deepEqual((await a.run("succeed")).ended, ["refused"]);
  assert.deepEqual((await a.run(["succeed", "succeed"])).after, "closed", "under another lease");
});

test("an isolate whose clock is ahead waits for the object's word", async (context) => {
  const fleet = await Fleet.start(context);
  const { b } = fleet;
  await fleet.tripped();
  await fleet.advance(RESET - MAX_AGE - 1_000);
  await fleet.asked();
  const ahead = { now: b.now + 1_000 };
  const { ended, after } = await b.run(["succeed", "succeed", "succeed"], ahead);
  assert.deepEqual([ended, after], [["refused", "refused", "refused"], "open"]);
  assert.deepEqual((await b.run("succeed", ahead)).ended, ["refused"]);
  assert.equal((await fleet.asked()).filter((kind) => kind === "lease").length, 1);
  assert.equal((await fleet.kept()).state, "open");
});

test("a request that is gone while it asks holds nobody up for longer than it may take", async (context) => {
  const fleet = await Fleet.start(context);
  fleet.options = { objectTimeout: "30s", probeTimeout: "30s" };
  const { a } = fleet;
  await fleet.waited();
  await fleet.asked();
  await fleet.steer({ mode: "held" });
  const asking = await a.request("succeed", { context: "none" });
  await fleet.askedFor("lease");
  asking.socket?.resetAndDestroy();
  await assert.rejects(once(asking, "response"));
  await fleet.steer({ mode: "well" });
  await a.run("succeed");
  assert.ok(!(await fleet.asked()).includes("lease"), "it may still be answered");
  await fleet.advance(30_000);
  await a.run("succeed");
  assert.ok((await fleet.asked()).includes("lease"));
  assert.deepEqual((await a.run("succeed")).ended, ["fresh"]);
});
