// The clock: what it reads, and that nothing is asked of the platform too early or at all.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FrozenClock, Pms, start, wasm } from "./program.ts";

test("it reads performance.now(), in nanoseconds", () => {
  const clock = new FrozenClock();
  const program = start({ performance: clock.performance });
  const before = program.now();
  assert.equal(program.now(), before, "it stands still");
  clock.ms += 1.5;
  assert.equal(program.now() - before, 1_500_000n);
  assert.equal(program.resolution(), 1_000_000n);
});

test("threads of one page count from one origin", () => {
  const first = start({ performance: { now: () => 90_000, timeOrigin: 1_000_000 } });
  const later = start({ performance: { now: () => 30_000, timeOrigin: 1_060_000 } });
  assert.equal(first.now(), later.now());
});

test("without performance it reads Date.now()", () => {
  const before = BigInt(Date.now()) * 1_000_000n;
  const now = start({}).now();
  assert.ok(now >= before && now <= BigInt(Date.now()) * 1_000_000n, `${now}`);
});

test("a performance without now, or with one that throws, is as good as none", () => {
  const throws = (): never => {
    throw new Error("no");
  };
  for (const performance of [{}, { now: throws }, { now: 7 }]) {
    const now = start({ performance }).now();
    assert.ok(now > 1_700_000_000_000_000_000n, `${now}`);
  }
});

test("nonsense is no time, and never a trap", () => {
  for (const [reading, nanos] of [
    [Number.NaN, 0n],
    [-5, 0n],
    [Number.POSITIVE_INFINITY, 2n ** 64n - 1n],
    ["soon", 0n],
    [undefined, 0n],
  ] as const) {
    const program = start({ performance: { now: () => reading } });
    assert.equal(BigInt.asUintN(64, program.now()), nanos, `${reading}`);
  }
});

test("nothing is asked before the first call", () => {
  const refuses = (what: string) => (): never => {
    throw new Error(`${what} was asked`);
  };
  // As at the top of an edge worker: loading it and making breakers asks for nothing.
  const performance = { now: refuses("performance.now") };
  const program = start({
    performance,
    Date: { now: refuses("Date.now") },
    Math: { random: refuses("random") },
  });
  const client = new program.Client("early");
  assert.equal(program.state("early"), "closed");
  client.free();
});

test("entropy is drawn when it is first wanted, and once", () => {
  let drawn = 0;
  const random = (): number => {
    drawn += 1;
    return 0.1 + drawn / 100;
  };
  const program = start({ Math: { random } });
  assert.equal(drawn, 0);
  const entropy = program.entropy();
  assert.equal(program.entropy(), entropy);
  assert.equal(drawn, 1);
  assert.notEqual(start({ Math: { random } }).entropy(), entropy);
});

test("where random numbers are refused, a trip still works and asks again", async () => {
  let refused = true;
  const random = (): number => {
    if (refused) {
      throw new Error("disallowed operation called within global scope");
    }
    return 0.5;
  };
  const clock = new FrozenClock();
  const program = start({ performance: clock.performance, Math: { random } });
  const pms = new Pms();
  pms.status = 500;
  for (let call = 0; call < 3; call += 1) {
    await assert.rejects(program.rooms(pms.ask));
  }
  assert.equal(program.state("rooms"), "open");
  const without = program.entropy();
  assert.notEqual(without, undefined);
  refused = false;
  const drawn = program.entropy();
  assert.notEqual(drawn, without);
  assert.equal(program.entropy(), drawn);
});

test("what traps on this platform is not in the program", () => {
  const text = wasm.toString("latin1");
  // What `Instant::now()` and `SystemTime::now()` say before they trap.
  assert.doesNotMatch(text, /time not implemented on this platform/);
  const modules = WebAssembly.Module.imports(new WebAssembly.Module(wasm)).map(
    (item) => item.module,
  );
  assert.deepEqual([...new Set(modules)], ["./test_js_bg.js"]);
});
