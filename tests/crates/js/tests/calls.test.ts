// Annotated functions in JavaScript: they trip, refuse, probe and close by its clock.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FrozenClock, HttpError, Pms, Timers, hangs, settle, start } from "./program.ts";

function world() {
  const clock = new FrozenClock();
  const timers = new Timers();
  const program = start({ performance: clock.performance, ...timers.globals });
  return { clock, timers, program, pms: new Pms() };
}

const open = { name: "CircuitOpenError" };

test("it trips, refuses, probes after the wait and closes", async () => {
  const { clock, program, pms } = world();
  assert.equal(await program.rooms(pms.ask), "7 rooms");
  pms.status = 500;
  for (let call = 0; call < 3; call += 1) {
    await assert.rejects(program.rooms(pms.ask), new HttpError(500));
  }
  assert.equal(pms.asked, 4);
  assert.equal(program.state("rooms"), "open");
  // 30 s and a tenth of that at most, drawn at random, and the clock's resolution.
  clock.ms += 30_000;
  await assert.rejects(program.rooms(pms.ask), open);
  assert.equal(pms.asked, 4);
  clock.ms += 3_001;
  await assert.rejects(program.rooms(pms.ask), new HttpError(500));
  assert.equal(pms.asked, 5);
  await assert.rejects(program.rooms(pms.ask), open);
  pms.status = 200;
  clock.ms += 33_001;
  assert.equal(await program.rooms(pms.ask), "7 rooms");
  assert.equal(program.state("rooms"), "closed");
  assert.equal(pms.asked, 6);
});

test("a refusal says when to come back, in milliseconds", async () => {
  const { clock, program, pms } = world();
  pms.status = 500;
  for (let call = 0; call < 3; call += 1) {
    await assert.rejects(program.rooms(pms.ask));
  }
  clock.ms += 10_000;
  await assert.rejects(program.rooms(pms.ask), (refusal: Error & { retryAfter: number }) => {
    assert.equal(refusal.name, "CircuitOpenError");
    assert.match(refusal.message, /rooms/);
    const { retryAfter } = refusal;
    return retryAfter > 20_000 && retryAfter <= 23_001;
  });
});

test("what classify calls an answer never counts", async () => {
  const { program, pms } = world();
  pms.status = 404;
  for (let call = 0; call < 10; call += 1) {
    await assert.rejects(program.rooms(pms.ask), new HttpError(404));
  }
  assert.equal(pms.asked, 10);
  assert.equal(program.state("rooms"), "closed");
});

test("one probe at a time, of many calls at once", async () => {
  const { clock, program, pms } = world();
  pms.status = 500;
  for (let call = 0; call < 3; call += 1) {
    await assert.rejects(program.rooms(pms.ask));
  }
  pms.status = 200;
  clock.ms += 33_001;
  const calls = await Promise.allSettled(Array.from({ length: 100 }, () => program.rooms(pms.ask)));
  assert.equal(calls.filter((call) => call.status === "fulfilled").length, 1);
  assert.equal(pms.asked, 4);
  assert.equal(program.state("rooms"), "closed");
});

test("by rate: the share of failures in a window of time", async () => {
  const { clock, program, pms } = world();
  for (const status of [200, 500, 200]) {
    pms.status = status;
    await program.rates(pms.ask).catch(() => undefined);
  }
  // Older than the window.
  clock.ms += 11_000;
  pms.status = 500;
  for (let call = 0; call < 3; call += 1) {
    await assert.rejects(program.rates(pms.ask), new HttpError(500));
  }
  assert.equal(program.state("rates"), "closed");
  await assert.rejects(program.rates(pms.ask), new HttpError(500));
  assert.equal(program.state("rates"), "open");
});

test("by rate: slow calls are measured by JavaScript's clock", async () => {
  const { clock, program } = world();
  const slowly = (): string => {
    clock.ms += 1_001;
    return "7 rooms";
  };
  for (let call = 0; call < 4; call += 1) {
    assert.equal(await program.rates(slowly), "7 rooms");
  }
  assert.equal(program.state("rates"), "open");
});

test("a breaker by key for each host, bounded", async () => {
  const { program, pms } = world();
  pms.status = 500;
  await assert.rejects(program.byHost("a.example", pms.ask), new HttpError(500));
  pms.status = 200;
  await assert.rejects(program.byHost("a.example", pms.ask), open);
  for (const host of ["b.example", "c.example", "d.example", "e.example"]) {
    assert.equal(await program.byHost(host, pms.ask), "7 rooms");
  }
  const keys = program.keys("hosts");
  assert.equal(keys.length, 3);
  assert.ok(keys.includes("a.example"), "an open one is kept");
  assert.equal(program.state("hosts[a.example]"), "open");
});

test("a fallback sees why it is asked", async () => {
  const { clock, timers, program, pms } = world();
  const late = program.cached(hangs);
  await settle();
  timers.fire();
  assert.equal(await late, "last good: timed out");
  assert.equal(await program.cached(pms.ask), "last good: open");
  assert.equal(pms.asked, 0);
  clock.ms += 33_001;
  pms.status = 500;
  assert.equal(await program.cached(pms.ask), "last good: failed");
});

test("breaker!, Breaker::shared and breakers by hand have the same clock", async () => {
  const { clock, program, pms } = world();
  pms.status = 500;
  await assert.rejects(program.declared(pms.ask), new HttpError(500));
  assert.throws(() => program.admitPlain(), open);
  clock.ms += 33_001;
  program.admitPlain();
  assert.equal(program.state("declared"), "closed");

  const client = new program.Client("client");
  const other = new program.Client("client");
  await assert.rejects(client.call(pms.ask), new HttpError(500));
  await assert.rejects(client.call(pms.ask), open);
  await assert.rejects(other.call(pms.ask), new HttpError(500));
  client.free();
  assert.equal(program.state("client"), undefined);
  other.free();
});

test("the registry lists from the first call on, and operates", async () => {
  const { clock, program, pms } = world();
  assert.equal(program.state("rooms"), undefined);
  await program.rooms(pms.ask);
  assert.equal(program.state("rooms"), "closed");
  assert.equal(program.openFor("rooms", 60_000), true);
  await assert.rejects(program.rooms(pms.ask), open);
  clock.ms += 60_001;
  assert.equal(await program.rooms(pms.ask), "7 rooms");
});

test("observers and the log hear of it", async () => {
  const { program, pms } = world();
  program.listen();
  pms.status = 500;
  await program.cached(pms.ask);
  await program.cached(pms.ask);
  const heard = program.heard();
  const opened = /^circuit `cached` opened after 1 failure, for 3[0-3]/;
  assert.ok(
    heard.some((line) => opened.test(line)),
    heard.join("\n"),
  );
  assert.ok(heard.some((line) => line.startsWith("WARN: circuit `cached` opened")));
  assert.ok(heard.some((line) => line.startsWith("DEBUG: ") && line.includes("fallback")));
});

test("a clock of one's own, and a test scope", () => {
  const { program } = world();
  assert.equal(program.ownClock(), true);
  assert.equal(program.testScope(), true);
});
