// Last-good answers: as old as the clock says that says more.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FrozenClock, Pms, type Program, start } from "./program.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A world with two clocks that stand still. */
class World {
  readonly clock = new FrozenClock();
  date = 1_800_000_000_000;
  readonly pms = new Pms();
  readonly program: Program;

  constructor(hasPerformance = true) {
    const Date = { now: () => this.date };
    const { performance } = this.clock;
    this.program = start(hasPerformance ? { performance, Date } : { Date });
  }

  costs(account: string): Promise<unknown> {
    return this.program.costs(account, this.pms.ask);
  }

  pass(ms: number): void {
    this.clock.ms += ms;
    this.date += ms;
  }
}

async function inAnOutage(world: World): Promise<World> {
  assert.deepEqual(Array.from((await world.costs("acme")) as unknown[]), ["7 rooms", 0, false]);
  world.pms.status = 500;
  return world;
}

async function served(world: World, account = "acme"): Promise<unknown[]> {
  return Array.from((await world.costs(account)) as unknown[]);
}

test("a success is kept, and served stale with its age", async () => {
  const world = await inAnOutage(new World());
  world.pass(5_000);
  assert.deepEqual(await served(world), ["7 rooms", 5_000, true], "a failed call");
  assert.deepEqual(await served(world), ["7 rooms", 5_000, true]);
  assert.equal(world.pms.asked, 3);
  assert.deepEqual(await served(world), ["7 rooms", 5_000, true], "a refused call");
  assert.equal(world.pms.asked, 3);
  await assert.rejects(
    world.costs("other"),
    { status: 500 },
    "of another account nothing is known",
  );
});

test("time in which the machine slept counts", async () => {
  const world = await inAnOutage(new World());
  world.clock.ms += MINUTE;
  world.date += 8 * HOUR;
  assert.deepEqual(await served(world), ["7 rooms", 8 * HOUR, true]);
});

test("a device's time that is set back makes no answer younger", async () => {
  const world = await inAnOutage(new World());
  world.clock.ms += MINUTE;
  world.date -= HOUR;
  assert.deepEqual(await served(world), ["7 rooms", MINUTE, true]);
});

test("an answer that is older than its time to live is none", async () => {
  const world = await inAnOutage(new World());
  world.pass(DAY);
  assert.deepEqual(await served(world), ["7 rooms", DAY, true]);
  world.pass(1);
  await assert.rejects(world.costs("acme"), { status: 500 });
});

test("without performance the device's time decides", async () => {
  const world = await inAnOutage(new World(false));
  world.date += MINUTE;
  assert.deepEqual(await served(world), ["7 rooms", MINUTE, true]);
});

test("a primed answer is served in the first outage", async () => {
  const world = new World();
  world.pms.status = 500;
  world.program.prime("acme", "5 rooms", HOUR);
  world.pass(MINUTE);
  assert.deepEqual(await served(world), ["5 rooms", HOUR + MINUTE, true]);
  world.program.prime("other", "1 room", DAY + 1);
  await assert.rejects(world.costs("other"), { status: 500 });
});
