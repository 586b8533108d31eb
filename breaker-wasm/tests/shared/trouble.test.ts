/** An object that can't be reached, or says nonsense: the isolate goes by itself, and says so. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Command, MAX_AGE, RESET } from "./command.js";
import { Fleet, holding } from "./fleet.js";
import type { Mode } from "./objects.js";

const IN_BINDING: [Command["trouble"], RegExp][] = [
  ["throws at idFromName", /no id/],
  ["throws at get", /no stub/],
  ["rejects", /gone/],
];

const IN_OBJECT: [Mode, RegExp][] = [
  ["silent", /did not answer within 100 ms/],
  ["nonsense", /nonsense|no object/],
  ["refusing", /answered 503: overloaded/],
  ["throwing", /broken/],
];

async function isLocal(fleet: Fleet, cause: RegExp, command: Partial<Command>): Promise<void> {
  const { a } = fleet;
  const first = await a.run(["succeed", "fail", "fail", "succeed"], command);
  assert.deepEqual(first.ended, ["fresh", "down", "down", "refused"]);
  assert.equal(first.retryAfter, RESET);
  const failed = first.events.filter(({ type }) => type === "sharingFailed");
  assert.equal(failed.length, 1, "reported, and not tried again at once");
  assert.match(failed[0]?.cause ?? "", cause);

  await fleet.advance(RESET - 1);
  assert.equal((await a.run("succeed", command)).retryAfter, 1);
  await fleet.advance(1);
  const probe = await a.run("fail", command);
  assert.deepEqual([probe.ended, probe.after], [["down"], "open"], "it probes by itself");
  await fleet.advance(RESET);
  const recovered = await a.run(["succeed", "succeed"], command);
  assert.deepEqual([recovered.ended, recovered.after], [["fresh", "fresh"], "closed"]);
}

for (const [trouble, cause] of IN_BINDING) {
  test(`the binding ${trouble}`, async (context) => {
    const fleet = await Fleet.start(context);
    await isLocal(fleet, cause, trouble ? { trouble } : {});
    assert.deepEqual(fleet.complaints, []);
  });
}

for (const [mode, cause] of IN_OBJECT) {
  for (const kind of ["collected", "none"] as const) {
    test(`the object is ${mode}, the context ${kind}`, async (context) => {
      const fleet = await Fleet.start(context);
      fleet.options = mode === "silent" ? { objectTimeout: 100 } : {};
      await fleet.steer({ mode });
      await isLocal(fleet, cause, kind === "none" ? { context: "none" } : {});
    });
  }
}

test("a slow object is waited for once, for so long, and asked again in the background", async (context) => {
  const fleet = await Fleet.start(context);
  fleet.options = { objectTimeout: 100 };
  const { a } = fleet;
  await fleet.steer({ mode: "silent" });
  await a.run("succeed");
  assert.equal((await a.run(["succeed", "succeed"])).background, 0);
  assert.deepEqual(await fleet.asked(), ["read"]);
  await fleet.advance(MAX_AGE);
  await fleet.steer({ mode: "held" });
  assert.deepEqual((await a.run("succeed", { context: "real" })).ended, ["fresh"]);
  assert.deepEqual(await fleet.asked(), ["read"]);
});

test("where the lease can't be fetched it probes by itself, after the limit", async (context) => {
  const fleet = await Fleet.start(context);
  fleet.options = { objectTimeout: 100 };
  const { a } = fleet;
  await fleet.waited();
  await fleet.steer({ mode: "silent" });
  const { ended, events } = await a.run("succeed");
  assert.deepEqual(ended, ["refused"]);
  assert.deepEqual(
    events.map(({ type }) => type),
    ["sharingFailed"],
  );
  assert.deepEqual((await a.run("succeed")).ended, ["fresh"]);
});

test("what could not be told is told when the object is back", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  await a.run("succeed");
  await fleet.steer({ mode: "refusing" });
  const tripped = await a.run(["fail", "fail"]);
  assert.equal(tripped.events.at(-1)?.type, "sharingFailed");
  await fleet.steer({ mode: "well" });
  await fleet.advance(MAX_AGE);
  await fleet.asked();
  await a.run("succeed");
  assert.deepEqual(await fleet.asked(), ["changed"]);
  const { state, lasts } = await fleet.kept();
  assert.deepEqual([state, lasts], ["open", RESET - MAX_AGE]);
  assert.deepEqual((await b.run("succeed")).ended, ["refused"]);
});

test("an isolate whose object is back probes by the lease again", async (context) => {
  const fleet = await Fleet.start(context);
  const { a } = fleet;
  await fleet.steer({ mode: "refusing" });
  await a.run("succeed");
  await fleet.steer({ mode: "well" });
  await fleet.advance(MAX_AGE);
  await a.run("succeed");
  await a.run(["fail", "fail"]);
  await fleet.advance(RESET);
  assert.deepEqual((await a.run("succeed")).ended, ["refused"]);
  assert.deepEqual((await a.run("succeed")).ended, ["fresh"]);
});

test("what is on its way is not told again", async (context) => {
  const fleet = await Fleet.start(context);
  const { a } = fleet;
  await a.run("succeed");
  await fleet.asked();
  await fleet.steer({ mode: "held" });
  await a.run(["fail", "fail", "succeed", "succeed"], { context: "real" });
  await a.run("succeed", { context: "real" });
  assert.deepEqual(await fleet.asked(), ["changed"]);
});

test("a trial that an isolate makes by itself is open to the others", async (context) => {
  const fleet = await Fleet.start(context);
  const [origin, url] = await holding(context);
  const { a } = fleet;
  await fleet.steer({ mode: "refusing" });
  await a.run(["fail", "fail"]);
  await fleet.advance(RESET);
  await fleet.steer({ mode: "well" });
  const arrival = origin.next("arrival");
  const probe = a.run({ ask: url });
  await arrival;
  await fleet.askedFor("changed");
  const { state, lasts } = await fleet.kept();
  assert.deepEqual([state, lasts], ["open", 0]);
  origin.answers = "well";
  origin.release();
  assert.deepEqual((await probe).after, "closed");
  assert.equal((await fleet.kept()).state, "closed");
});

test("what an operator could not tell is told, and stands against what calls did", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  for (const isolate of [a, b]) await isolate.run("succeed");
  await fleet.steer({ mode: "refusing" });
  assert.deepEqual((await a.run("forceOpen")).ended, ["false"]);
  await fleet.steer({ mode: "well" });
  await b.run(["fail", "fail"]);
  await fleet.advance(MAX_AGE);
  await a.run("succeed");
  assert.equal((await fleet.kept()).state, "forced_open");
});

test("what an operator could not tell stands also where it trips meanwhile", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  for (const isolate of [a, b]) await isolate.run("succeed");
  await fleet.steer({ mode: "refusing" });
  assert.deepEqual((await a.run(["close", "fail", "fail"])).after, "open");
  await fleet.steer({ mode: "well" });
  await b.run(["fail", "fail"]);
  const { version } = await fleet.kept();
  await fleet.advance(MAX_AGE);
  await a.run("succeed");
  const { state, version: later } = await fleet.kept();
  assert.deepEqual([state, later.number], ["open", version.number + 1]);
});

test("what an operator could not tell is void once another operator has spoken", async (context) => {
  const fleet = await Fleet.start(context);
  const { a, b } = fleet;
  for (const isolate of [a, b]) await isolate.run("succeed");
  await fleet.steer({ mode: "refusing" });
  assert.deepEqual((await a.run("forceOpen")).ended, ["false"]);
  await fleet.steer({ mode: "well" });
  assert.deepEqual((await b.run("close")).ended, ["true"]);
  await fleet.advance(MAX_AGE);
  assert.equal((await a.run("succeed")).after, "closed");
  assert.equal((await fleet.kept()).state, "closed");
});

test("what was counted before the first answer counts on", async (context) => {
  const fleet = await Fleet.start(context);
  const { a } = fleet;
  await fleet.steer({ mode: "refusing" });
  await a.run("fail");
  await fleet.steer({ mode: "well" });
  await fleet.advance(MAX_AGE);
  const { background, events } = await a.run("ignore");
  assert.deepEqual([background, events], [1, []]);
  assert.equal((await a.run("fail")).after, "open");
});

test("a binding that is missing is said so", async (context) => {
  const fleet = await Fleet.start(context);
  const { thrown } = await fleet.a.run("succeed", { trouble: "missing" });
  assert.equal(
    thrown,
    "TypeError: circuit `pms`: the namespace is undefined: expected the binding of a Durable Object " +
      "class, like env.BREAKERS",
  );
});
