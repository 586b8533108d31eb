// Isolates come and go, and the breaker stays: the program is the one that the README shows.

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { blockWith } from "../package/documented.js";
import { Isolate } from "./isolate.js";
import { Origin } from "./origin.js";

/** What the program is set to, and the clock's resolution. */
const RESET = 30_000;
const RESOLUTION = 1;
/** With the most jitter. */
const SURELY_RESET = 33_001;

async function world(context: TestContext) {
  const origin = new Origin();
  const bindings = { PMS_URL: await origin.start() };
  const kvPersist = await mkdtemp(join(tmpdir(), "breaker-wasm-kept-"));
  let isolate: Isolate | undefined;
  context.after(async () => {
    await isolate?.stop();
    await origin.stop();
    await rm(kvPersist, { recursive: true });
  });
  /** Ends the isolate, if there is one, and starts another on the same store. */
  const restart = async (): Promise<Isolate> => {
    await isolate?.stop();
    const { text } = blockWith("KVNamespace");
    isolate = await Isolate.of(text, { bindings, kvNamespaces: ["KEPT"], kvPersist });
    return isolate;
  };
  return { origin, restart, first: await restart() };
}

/** Failed until it is open. */
async function trip(origin: Origin, isolate: Isolate): Promise<void> {
  origin.answers = "badly";
  for (let call = 0; call < 3; call += 1) {
    assert.deepEqual(await isolate.ask("/"), { status: 503, body: "the PMS answered 500" });
  }
  assert.match((await isolate.ask("/")).body, /^circuit `pms` is open: retry in /);
  await kept(isolate, "open");
}

/** What a request goes on writing after its answer is there. */
async function kept(isolate: Isolate, state: string): Promise<void> {
  while (!(await isolate.read("KEPT", "pms")).includes(`"state":"${state}"`));
}

const left = (body: string): number => {
  const seconds = /^circuit `pms` is open: retry in ([\d.]+)s$/.exec(body)?.[1];
  assert.ok(seconds, body);
  return Math.round(Number(seconds) * 1000);
};

test("a new isolate goes on where the last one stopped", async (context) => {
  const { origin, restart, first } = await world(context);
  await trip(origin, first);
  const before = left((await first.ask("/")).body);
  const { asked } = origin;
  const second = await restart();
  origin.answers = "well";
  // Time stood still while there was no isolate; of the wait, what is above `reset` is cut.
  const after = left((await second.ask("/")).body);
  assert.equal(after, Math.min(before, RESET + RESOLUTION));
  assert.equal(origin.asked, asked);
  await second.advance(SURELY_RESET);
  assert.deepEqual(await second.ask("/"), { status: 200, body: "well" });
  await kept(second, "closed");
  const third = await restart();
  assert.deepEqual(await third.ask("/"), { status: 200, body: "well" });
});

test("the time without an isolate is taken off the wait", async (context) => {
  const { origin, restart, first } = await world(context);
  await trip(origin, first);
  const before = left((await first.ask("/")).body);
  const second = await restart();
  await second.advance(20_000);
  const after = left((await second.ask("/")).body);
  assert.equal(after, before - 20_000);
  const third = await restart();
  await third.advance(SURELY_RESET);
  origin.answers = "well";
  assert.deepEqual(await third.ask("/"), { status: 200, body: "well" });
});

test("without what was kept, an isolate begins closed; a few failures are forgotten", async (context) => {
  const { origin, restart, first } = await world(context);
  assert.deepEqual(await first.ask("/"), { status: 200, body: "well" });
  origin.answers = "badly";
  await first.ask("/");
  const second = await restart();
  for (let call = 0; call < 3; call += 1) {
    assert.deepEqual(await second.ask("/"), { status: 503, body: "the PMS answered 500" });
  }
  assert.match((await second.ask("/")).body, /is open/);
});

test("with nonsense in what was kept, an isolate begins closed", async (context) => {
  const { restart, first } = await world(context);
  let isolate = first;
  const closed = { state: "closed", timeLeft: 0, imposed: false, consecutive: 0, reopenings: 0 };
  for (const snapshot of [{}, { ...closed, consecutive: 3 }, { ...closed, state: "ajar" }]) {
    await isolate.write("KEPT", "pms", JSON.stringify({ at: 0, snapshot }));
    isolate = await restart();
    assert.deepEqual(await isolate.ask("/"), { status: 200, body: "well" });
    assert.match(isolate.complaints.splice(0).join(""), /begins closed/);
  }
});

test("many requests at once in a new isolate: none waits for what another reads", async (context) => {
  const { origin, restart, first } = await world(context);
  await trip(origin, first);
  const second = await restart();
  const { asked } = origin;
  const answers = await Promise.all(Array.from({ length: 20 }, () => second.ask("/")));
  assert.ok(answers.every(({ status }) => status === 503));
  // Those that came before it was read may be made: fewer than would open it by themselves.
  assert.ok(origin.asked - asked < 20, `${origin.asked - asked} of 20`);
  left((await second.ask("/")).body);
  assert.deepEqual(second.complaints, []);
});
