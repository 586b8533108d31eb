// The timer behind `timeout`: `setTimeout`, as late as possible and no longer than needed.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FrozenClock, Pms, Timers, hangs, settle, start } from "./program.ts";

function world() {
  const timers = new Timers();
  const performance = new FrozenClock().performance;
  const program = start({ performance, ...timers.globals });
  return { timers, program, pms: new Pms() };
}

const late = { name: "TimeoutError" };

test("a timeout ends the call and counts", async () => {
  const { timers, program } = world();
  for (let call = 0; call < 2; call += 1) {
    const limited = program.limited(2_000, hangs);
    await settle();
    assert.deepEqual(timers.delays, [2_000]);
    timers.fire();
    await assert.rejects(limited, late);
  }
  assert.equal(program.state("limited"), "open");
  assert.equal(timers.running.size, 0);
});

test("by Node's own clock and setTimeout", async () => {
  const { performance, setTimeout, clearTimeout } = globalThis;
  const program = start({ performance, setTimeout, clearTimeout });
  const begun = performance.now();
  await assert.rejects(program.limited(20, hangs), late);
  // Node fires up to 1 ms early.
  assert.ok(performance.now() - begun >= 19);
});

test("an answer clears the timer", async () => {
  const { timers, program } = world();
  let answer: (value: string) => void = assert.fail;
  const call = program.limited(2_000, () => new Promise((resolve) => (answer = resolve)));
  await settle();
  assert.equal(timers.running.size, 1);
  answer("7 rooms");
  assert.equal(await call, "7 rooms");
  assert.equal(timers.running.size, 0);
});

test("a refused call sets no timer", async () => {
  const { timers, program, pms } = world();
  await program.limited(2_000, pms.ask);
  program.openFor("limited", 60_000);
  const made = timers.made;
  await assert.rejects(program.limited(2_000, pms.ask), { name: "CircuitOpenError" });
  assert.equal(timers.made, made);
});

test("a call dropped on its way clears its timer and gives its slot back", async () => {
  const { timers, program } = world();
  const dropped = new program.Begun(hangs);
  assert.deepEqual(timers.delays, [5_000]);
  dropped.free();
  assert.equal(timers.running.size, 0);
  assert.equal(program.state("dropped"), "closed");

  program.openFor("dropped", 0);
  const probe = new program.Begun(hangs);
  assert.equal(program.state("dropped"), "half_open");
  probe.free();
  const next = new program.Begun(hangs);
  assert.equal(timers.running.size, 1, "the probe's slot was free");
  timers.fire();
  assert.equal(next.poll(), true);
  assert.equal(program.state("dropped"), "open");
  next.free();
});

test("many at once: each is woken by its own", async () => {
  const { timers, program } = world();
  const ended: bigint[] = [];
  const sleeps = [1n, 2n, 3n, 4n].map(async (ms) => {
    await program.sleep(ms * 1_000_000n);
    ended.push(ms);
  });
  await settle();
  assert.deepEqual(timers.delays, [1, 2, 3, 4]);
  const [first, second, third, fourth] = [...timers.running.values()];
  for (const timer of [third, first, fourth, second]) {
    timer?.fire();
    await settle();
  }
  await Promise.all(sleeps);
  assert.deepEqual(ended, [3n, 1n, 4n, 2n]);
});

test("part of a millisecond is a whole one, and nothing is nothing", async () => {
  const { timers, program } = world();
  const sleep = program.sleep(1_000_001n);
  await settle();
  assert.deepEqual(timers.delays, [2]);
  timers.fire();
  await sleep;
  await program.sleep(0n);
  assert.equal(timers.made, 1);
});

test("more than setTimeout takes is waited for in turns", async () => {
  const { timers, program } = world();
  const most = 2 ** 31 - 1;
  const sleep = program.sleep((BigInt(most) + 5n) * 1_000_000n);
  await settle();
  assert.deepEqual(timers.delays, [most]);
  timers.fire();
  await settle();
  assert.deepEqual(timers.delays, [5]);
  timers.fire();
  await sleep;

  void program.sleep(2n ** 64n - 1n);
  await settle();
  assert.deepEqual(timers.delays, [most]);
});

test("a setTimeout that calls back at once is survived", async () => {
  const setTimeout = (callback: (key: unknown) => void, _: number, key: unknown): number => {
    callback(key);
    return 1;
  };
  const program = start({ setTimeout, clearTimeout: () => undefined });
  await program.sleep(1_000_000n);
});

test("without setTimeout, or where it is refused, calls go on without a limit", async () => {
  const refuses = (): never => {
    throw new Error("disallowed in global scope");
  };
  for (const globals of [{}, { setTimeout: refuses, clearTimeout: refuses }]) {
    const program = start(globals);
    let answer: (value: string) => void = assert.fail;
    const call = program.limited(10, () => new Promise((resolve) => (answer = resolve)));
    await settle();
    answer("7 rooms");
    assert.equal(await call, "7 rooms");
  }
});

test("a clearTimeout that throws is survived", async () => {
  const { globals, running } = new Timers();
  const clearTimeout = (): never => {
    throw new Error("cannot perform I/O on behalf of a different request");
  };
  const program = start({ ...globals, clearTimeout });
  const dropped = new program.Begun(hangs);
  dropped.free();
  for (const timer of running.values()) {
    timer.fire();
  }
  assert.equal(program.state("dropped"), "closed");
});
