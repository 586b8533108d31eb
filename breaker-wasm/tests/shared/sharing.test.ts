/** One circuit across isolates: what one finds out, the others know within the stated age. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_AGE, RESET } from "./command.js";
import { Fleet } from "./fleet.js";

test("a closed call costs no round trip", async (context) => {
  const fleet = await Fleet.start(context);
  const { a } = fleet;
  const first = await a.run("succeed");
  assert.deepEqual([first.ended, first.background], [["fresh"], 0]);
  assert.deepEqual(await fleet.asked(), ["read"], "a new isolate knows nothing");
  for (const passes of [0, 1, MAX_AGE / 2 - 2]) {
    await fleet.advance(passes);
    const { ended, background } = await a.run(["succeed", "wrap", "fail", "succeed", "ignore"]);
    assert.deepEqual(ended, ["fresh", "fresh", "down", "fresh", "unknown"]);
    assert.equal(background, 0);
  }
  assert.deepEqual(await fleet.asked(), []);
});

test("a trip in one isolate stops the others within the age", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b, c } = fleet;
  for (const isolate of [a, b]) await isolate.run("succeed");
  const tripped = await a.run(["fail", "fail", "succeed"]);
  assert.deepEqual(tripped.ended, ["down", "down", "refused"]);
  assert.equal(tripped.retryAfter, RESET);

  await fleet.advance(1);
  assert.deepEqual((await c.run("succeed")).ended, ["refused"], "a new isolate");
  assert.deepEqual((await b.run("succeed")).ended, ["fresh"], "one that goes by its copy");
  await fleet.advance(MAX_AGE - 1);
  const idle = await b.run("succeed");
  assert.deepEqual([idle.ended, idle.made], [["refused"], 0], "one that made no call since");
  assert.equal(idle.retryAfter, RESET - MAX_AGE, "the wait is that of the isolate that tripped");
  assert.deepEqual(
    idle.events.map(({ to, trigger }) => [to, trigger]),
    [["open", "restored"]],
  );
  assert.deepEqual(fleet.complaints, []);
});

test("`maxAge` says how old", async (context) => {
  const fleet = await Fleet.start(context);
  fleet.options = { maxAge: "10m" };
  const { a, b } = fleet;
  for (const isolate of [a, b]) await isolate.run("succeed");
  await a.run({ openFor: 1_000_000 });
  await fleet.advance(299_999);
  assert.deepEqual((await b.run("succeed")).background, 0);
  await fleet.advance(300_001);
  assert.deepEqual((await b.run("succeed")).ended, ["refused"]);
});

test("a busy isolate learns in the background, and no call of it waits", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  for (const isolate of [a, b]) await isolate.run("succeed");
  await a.run(["fail", "fail"]);
  await fleet.asked();
  await fleet.advance(MAX_AGE / 2);
  await fleet.steer({ mode: "held" });
  for (let call = 0; call < 3; call += 1) {
    assert.deepEqual((await b.run("succeed", { context: "real" })).ended, ["fresh"]);
  }
  assert.deepEqual(await fleet.asked(), ["read"], "asked once");
  await fleet.steer({ mode: "well", release: true });
  while ((await b.run([])).state !== "open");
  assert.deepEqual((await b.run("succeed")).ended, ["refused"]);
});

test("what is known is as old as the question, not as the answer", async (context) => {
  const fleet = await Fleet.start(context);
  const { a } = fleet;
  await fleet.steer({ mode: "held" });
  const slow = a.run("succeed");
  await fleet.askedFor("read");
  await fleet.advance(MAX_AGE - 1);
  await a.run([]);
  await fleet.steer({ mode: "well", release: true });
  const { ended, background } = await slow;
  assert.deepEqual([ended, background], [["fresh"], 1], "it has to be renewed soon");
});

test("a report of an earlier generation changes nothing", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  for (const isolate of [a, b]) await isolate.run("succeed");
  await b.run("fail");
  await a.run(["fail", "fail", "close"]);
  const before = await fleet.kept();
  const late = await b.run("fail");
  assert.deepEqual([late.state, late.after], ["open", "closed"]);
  assert.deepEqual(await fleet.asked(), ["changed"]);
  assert.deepEqual(await fleet.kept(), before);
  assert.deepEqual((await b.run("fail")).after, "closed", "what was counted is forgotten");
});

test("two that trip make one opening, and the second does not prolong it", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b, c } = fleet;
  for (const isolate of [a, b, c]) await isolate.run("succeed");
  const both = await Promise.all([a.run(["fail", "fail"]), b.run(["fail", "fail"])]);
  assert.deepEqual(
    both.map(({ after }) => after),
    ["open", "open"],
  );
  assert.equal((await fleet.kept()).version.number, 2);
  await fleet.advance(1_000);
  assert.equal((await c.run(["fail", "fail"])).after, "open");
  assert.equal((await c.run("succeed")).retryAfter, RESET - 1_000);
  assert.equal((await fleet.kept()).version.number, 2);
});

test("an operator's call in one isolate is for all", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  for (const isolate of [a, b]) await isolate.run("succeed");
  const reaches = async (step: Parameters<typeof a.run>[0], wanted: string[]) => {
    assert.deepEqual((await a.run(step)).ended, ["true"]);
    await fleet.advance(MAX_AGE);
    // A first one, by which a refusing isolate learns in the background.
    await b.run("succeed");
    const { ended, retryAfter } = await b.run(["fail", "fail", "fail", "succeed"]);
    assert.deepEqual(ended, wanted, JSON.stringify(step));
    return retryAfter;
  };
  const refused = ["refused", "refused", "refused", "refused"];
  assert.equal(await reaches("forceOpen", refused), undefined);
  await reaches("disable", ["down", "down", "down", "fresh"]);
  await reaches("shadow", ["down", "down", "down", "fresh"]);
  assert.equal(await reaches({ openFor: 600_000 }, refused), 600_000 - MAX_AGE);
  await reaches("close", ["down", "down", "refused", "refused"]);
  // An operator's word stands against a report that comes at the same time.
  assert.deepEqual((await a.run("disable")).ended, ["true"]);
  assert.equal((await fleet.kept()).state, "disabled");
});

test("without a context, calls say before they end what is to be said", async (context) => {
  const fleet = await Fleet.start(context);
  const { a } = fleet;
  const none = { context: "none" } as const;
  await a.run(["fail", "fail"], none);
  assert.deepEqual(await fleet.asked(), ["read", "changed"]);
  assert.equal((await fleet.kept()).state, "open");
  await fleet.advance(MAX_AGE / 2);
  await a.run("succeed", none);
  assert.deepEqual(await fleet.asked(), [], "nothing is renewed before its time");
  await fleet.advance(RESET);
  assert.deepEqual((await a.run(["succeed", "succeed"], none)).ended, ["refused", "fresh"]);
  assert.deepEqual(await fleet.asked(), ["lease", "changed"]);
  assert.equal((await fleet.kept()).state, "closed");
});

test("by a binding and a name alone", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  const bare = { bare: true };
  const fails = Array.from({ length: 5 }, () => "fail" as const);
  await a.run([...fails, "succeed"], bare);
  const { ended } = await b.run("succeed", bare);
  assert.deepEqual(ended, ["refused"]);
});

test("in the background of the runtime's own", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  await a.run(["fail", "fail"], { context: "real" });
  while ((await fleet.kept()).state !== "open");
  assert.deepEqual((await b.run("succeed")).ended, ["refused"]);
});

test("names are circuits of their own", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  await a.run(["fail", "fail"]);
  assert.deepEqual((await b.run("succeed", { name: "crm" })).ended, ["fresh"]);
  assert.deepEqual((await b.run("succeed")).ended, ["refused"]);
});

test("many requests at once: none waits for what another asked", async (context) => {
  const fleet = await Fleet.start(context);
  const { a } = fleet;
  await fleet.steer({ mode: "held" });
  const first = a.run("succeed");
  await fleet.askedFor("read");
  await fleet.steer({ mode: "well" });
  // The first one's answer is held: these would wait for ever.
  const others = await Promise.all(Array.from({ length: 20 }, () => a.run("succeed")));
  assert.ok(others.every(({ ended }) => ended[0] === "fresh"));
  await fleet.steer({ release: true });
  assert.deepEqual((await first).ended, ["fresh"]);
  assert.deepEqual(fleet.complaints, []);
});

test("an object that is ended and begins anew knows what it knew", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b, c } = fleet;
  await a.run(["fail", "fail"]);
  const { born } = await fleet.steer({});
  await assert.rejects(fleet.steer({ restart: true }));
  await fleet.advance(1_000);
  assert.notEqual((await fleet.steer({})).born, born);
  assert.equal((await b.run("succeed")).retryAfter, RESET - 1_000);

  await fleet.restart();
  await fleet.advance(1_000);
  for (const isolate of [a, b, c]) {
    assert.equal((await isolate.run("succeed")).retryAfter, RESET - 2_000);
  }
});

test("an object that lost what it kept begins closed, and all follow", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  await fleet.tripped();
  await fleet.steer({ forget: true });
  await fleet.advance(MAX_AGE);
  assert.equal((await b.run("succeed")).after, "closed");
  assert.deepEqual(
    (await a.run(["fail", "fail"])).after,
    "closed",
    "it learnt it in the background",
  );
  assert.deepEqual((await a.run(["fail", "fail"])).after, "open");
  assert.equal((await fleet.kept()).state, "open");
});

test("a clock that is set back makes nothing young, and holds nothing up", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  for (const isolate of [a, b]) await isolate.run("succeed");
  await a.run(["fail", "fail"]);
  const { ended } = await b.run("succeed", { now: b.now - 1_000_000 });
  assert.deepEqual(ended, ["refused"]);
});
