/**
 * Random histories of isolates that share a circuit: calls in flight, messages that arrive late, in
 * any order, or never. `HISTORIES` and `HISTORY_SEED` are those of `tests/histories`.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RUNS } from "../histories/random.js";
import { idle } from "../support.js";
import { type Ending, ISOLATES, MAX_AGE, World } from "./world.js";

const LEASE = 4 * MAX_AGE;

type Step =
  | { do: "call"; isolate: number; background: boolean }
  | { do: "end"; which: number; ending: Ending }
  | { do: "deliver"; which: number }
  | { do: "deliver all" }
  | { do: "lose"; which: number }
  | { do: "operate"; isolate: number; order: "close" | "forceOpen" | "disable" }
  | { do: "pass"; ms: number };

/** Each takes as long as four of those without isolates. */
const SHARED_RUNS = { ...RUNS, numRuns: Math.ceil((RUNS.numRuns ?? 0) / 4) };

const which = fc.nat(7);
const isolate = fc.constantFrom(...ISOLATES);

const call = { do: fc.constant("call" as const), isolate, background: fc.boolean() };
const ending = fc.constantFrom<Ending[]>("success", "failure", "failure", "failure", "ignored");
const pass = fc.oneof(
  fc.constantFrom(1, MAX_AGE / 2, MAX_AGE - 1, MAX_AGE, 2 * MAX_AGE, LEASE - 1, LEASE),
  fc.nat(2 * MAX_AGE),
);

const ORDINARY = [
  { weight: 6, arbitrary: fc.record(call) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("end" as const), which, ending }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("deliver" as const), which }) },
  { weight: 3, arbitrary: fc.constant({ do: "deliver all" } as const) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: pass }) },
];

const order = fc.constantFrom("close" as const, "forceOpen" as const, "disable" as const);
const TROUBLED = [
  ...ORDINARY,
  { weight: 2, arbitrary: fc.record({ do: fc.constant("lose" as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("operate" as const), isolate, order }),
  },
];

const options = fc.record({
  threshold: fc.integer({ min: 1, max: 2 }),
  reset: fc.constant(2 * MAX_AGE),
  probeTimeout: fc.constant(LEASE),
  probes: fc.integer({ min: 1, max: 2 }),
  closeAfter: fc.constantFrom(1, 3),
});

async function play(world: World, steps: readonly Step[]): Promise<void> {
  const take = <T>(of: T[], at: number): T | undefined => of.splice(at % (of.length || 1), 1)[0];
  for (const step of steps) {
    switch (step.do) {
      case "call":
        world.call(step.isolate, step.background);
        break;
      case "end":
        take(world.running, step.which)?.(step.ending);
        break;
      case "deliver":
        await take(world.posts, step.which)?.go();
        break;
      case "deliver all":
        for (const { go } of world.posts.splice(0)) await go();
        break;
      case "lose":
        take(world.posts, step.which)?.lose();
        break;
      case "operate":
        void world.breaker(step.isolate)[step.order]();
        break;
      case "pass":
        await world.pass(step.ms);
    }
    await idle();
  }
}

/** One in which an isolate that was alone is open by itself, and has nothing to say of it. */
const ADRIFT: [object, Step[]] = [
  { threshold: 1, reset: 2 * MAX_AGE, probeTimeout: LEASE, probes: 1, closeAfter: 1 },
  [
    { do: "call", isolate: 0, background: false },
    { do: "pass", ms: MAX_AGE },
    { do: "end", which: 0, ending: "failure" },
    { do: "pass", ms: 1_501_062 },
    { do: "call", isolate: 1, background: false },
    { do: "pass", ms: 2_098_938 },
    { do: "call", isolate: 2, background: false },
    { do: "pass", ms: 1_800_000 },
    { do: "pass", ms: 1_800_000 },
    { do: "call", isolate: 0, background: false },
    { do: "end", which: 0, ending: "success" },
    { do: "end", which: 0, ending: "failure" },
    { do: "deliver", which: 0 },
    { do: "deliver all" },
    { do: "pass", ms: LEASE - 1 },
    { do: "call", isolate: 2, background: false },
  ],
];

test("an isolate that is open by itself closes when it hears that the circuit is", async () => {
  const world = new World(ADRIFT[0]);
  await play(world, ADRIFT[1]);
  await world.recovers();
  assert.deepEqual(world.wrong, []);
});

test("no probe without the lease, and no call that was stopped longer than the age ago", async () => {
  let probes = 0;
  let refused = 0;
  const steps = fc.array(fc.oneof(...ORDINARY), { maxLength: 60, size: "max" });
  await fc.assert(
    fc.asyncProperty(options, steps, async (options, steps) => {
      const world = new World(options);
      await play(world, steps);
      await world.recovers();
      assert.deepEqual(world.wrong, []);
      probes += world.probes;
      refused += world.refused;
    }),
    SHARED_RUNS,
  );
  assert.ok(probes > 0 && refused > 0, `${probes} probes, ${refused} refusals`);
});

test("where messages are lost and operators meddle, no call fails of it, and it recovers", async () => {
  const steps = fc.array(fc.oneof(...TROUBLED), { maxLength: 60, size: "max" });
  await fc.assert(
    fc.asyncProperty(options, steps, async (options, steps) => {
      const world = new World(options);
      await play(world, steps);
      await world.settle();
      void world.breaker(0).close();
      await world.recovers();
      const errors = world.wrong.filter((wrong) => !/^Error: a (probe|call) /.test(String(wrong)));
      assert.deepEqual(errors, []);
    }),
    SHARED_RUNS,
  );
});
