/** What an isolate hears, or does not, between what it says and the answer to it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { idle } from "../support.js";
import { MAX_AGE, World } from "./world.js";

const RESET = 2 * MAX_AGE;
const LEASE = 4 * MAX_AGE;

/** A circuit that the isolates 0 and 1 know. */
async function known(options: object = {}): Promise<World> {
  const world = new World({ threshold: 1, reset: RESET, probeTimeout: LEASE, ...options });
  for (const isolate of [0, 1]) world.call(isolate, true);
  await world.settle();
  return world;
}

/** A call that fails, and what is said of it. */
async function fail(world: World, isolate: number): Promise<void> {
  world.call(isolate, true);
  await idle();
  // It asks first, if what it knows is too old.
  while (!world.running.length) await deliver(world);
  world.running.pop()!("failure");
  await idle();
  await world.settle();
}

/** The next of what is on its way arrives, and its answer. */
async function deliver(world: World): Promise<void> {
  const { length } = world.posts;
  await world.posts.shift()!.go();
  assert.equal(world.posts.length, length, "its answer");
  await world.posts.pop()!.go();
  await idle();
}

/** Refused for want of the lease, which is then there. */
async function lease(world: World, isolate: number): Promise<void> {
  const { made } = world;
  world.call(isolate, true);
  await idle();
  while (world.posts.length) await deliver(world);
  assert.deepEqual([world.made, world.record?.state], [made, "half_open"]);
}

for (const order of ["forceOpen", "disable", "close"] as const) {
  test(`an operator's word that is on its way stands, whatever is heard of others: ${order}`, async () => {
    const state = { forceOpen: "forced_open", disable: "disabled", close: "closed" }[order];
    const world = await known();
    await world.pass(MAX_AGE);
    await fail(world, 1);
    // It asks, is told by its operator, and then hears that it has been opened.
    world.call(0, true);
    await idle();
    const told = world.breaker(0)[order]();
    await idle();
    assert.equal(world.posts.length, 2);
    await deliver(world);
    assert.equal(world.breaker(0).state, state);
    world.posts.shift()!.lose();
    assert.equal(await told, false);
    await world.pass(MAX_AGE);
    world.call(0, true);
    await world.settle();
    assert.equal(world.breaker(0).state, state);
    assert.equal(world.record?.state, state, "it is told later");
  });
}

test("who has the lease knows how often others have reopened it since it heard of them", async () => {
  const world = await known({ backoff: 2 });
  await fail(world, 0);
  await world.pass(RESET);
  await lease(world, 1);
  await fail(world, 1);
  assert.equal(world.record?.lasts, 2 * RESET);
  await world.pass(2 * RESET);
  await lease(world, 0);
  await fail(world, 0);
  const { lasts, reopenings } = world.record!;
  assert.deepEqual([lasts, reopenings], [4 * RESET, 2]);
});

for (const ending of ["success", "failure", "ignored"] as const) {
  test(`a probe of before others have reopened it decides nothing under a later lease: ${ending}`, async () => {
    const world = await known();
    await fail(world, 0);
    await world.pass(RESET);
    await lease(world, 0);
    world.call(0, true);
    await idle();
    const [late] = world.running.splice(0);
    await world.pass(LEASE);
    await lease(world, 1);
    await fail(world, 1);
    await world.pass(RESET);
    await lease(world, 0);
    const { version } = world.record!;
    late!(ending);
    await idle();
    await world.settle();
    assert.deepEqual([world.record?.state, world.record?.version], ["half_open", version]);
    world.call(0, true);
    await world.settle();
    assert.equal(world.record?.state, "closed");
    assert.deepEqual(world.wrong, []);
  });
}

test("a lease that is granted to who has opened the circuit meanwhile ends with that opening", async () => {
  const world = await known();
  await fail(world, 0);
  await world.pass(RESET);
  // Two ask how it stands: one is answered and wants the lease, the other is not and goes by itself.
  world.call(1, true);
  world.call(1, true);
  await idle();
  assert.equal(world.posts.length, 2);
  const [unanswered] = world.posts.splice(1);
  await deliver(world);
  assert.equal(world.posts.length, 1, "the lease is on its way");
  unanswered!.lose();
  await idle();
  world.running.pop()!("failure");
  await idle();
  await deliver(world);
  assert.equal(world.record?.state, "half_open");
  await world.pass(MAX_AGE);
  world.call(1, true);
  await world.settle();
  const { state, lasts, version } = world.record!;
  assert.deepEqual([state, version.number], ["open", 4]);
  await world.pass(lasts);
  const { made } = world;
  world.call(1, true);
  await world.settle();
  assert.equal(world.made, made, "it has to be asked for again");
  assert.equal(world.record?.state, "half_open");
  world.call(1, true);
  await world.settle();
  assert.deepEqual([world.record?.state, world.wrong], ["closed", []]);
});
