/** The object alone: what arrives is looked at, and what is nonsense is not kept. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BreakerObject } from "breaker-wasm/durable-object";
import { type Answer, type Message, readAnswer } from "../../js/shared/protocol.js";

/** Storage that is a map; `broken`: it refuses to write. */
class Storage {
  readonly kept = new Map<string, unknown>();
  broken = false;
  async get(key: string): Promise<unknown> {
    return structuredClone(this.kept.get(key));
  }
  async put(key: string, value: unknown): Promise<void> {
    if (this.broken) throw new Error("the disk is full");
    this.kept.set(key, structuredClone(value));
  }
}

class ClockedObject extends BreakerObject {
  time = 1_000;
  override now(): number {
    return this.time;
  }
}

function create() {
  const storage = new Storage();
  const object = new ClockedObject({ storage });
  const post = (body: string) =>
    object.fetch(new Request("https://object/", { method: "POST", body }));
  const say = async (message: Message): Promise<Answer> =>
    readAnswer(await (await post(JSON.stringify(message))).text());
  return { storage, object, post, say };
}

const OPEN = { state: "open", timeLeft: 500, imposed: false, consecutive: 0, reopenings: 0 };
const LIFE = { life: "x", number: 1 };
const CHANGED = { kind: "changed", to: OPEN, since: null, operator: false, again: false };

const NONSENSE: [string, unknown][] = [
  ["nothing", ""],
  ["no JSON", "{"],
  ["a number", 5],
  ["null", null],
  ["a list", [1]],
  ["no kind", {}],
  ["another kind", { kind: "close" }],
  ["a kind of Object's", { kind: "constructor" }],
  ["a lease of no time", { kind: "lease" }],
  ["a lease of 0", { kind: "lease", time: 0 }],
  ["a lease of less", { kind: "lease", time: -1 }],
  ["a lease for ever", '{"kind":"lease","time":1e999}'],
  ["a lease of more than fits", { kind: "lease", time: 2 ** 64 }],
  ["a lease of text", { kind: "lease", time: "1s" }],
  ["no version", { kind: "undecided" }],
  ["null as a version", { kind: "undecided", since: null }],
  ["a version of text", { kind: "undecided", since: "x1" }],
  ["a version without a life", { kind: "undecided", since: { number: 1 } }],
  ["a life of a book's length", { kind: "undecided", since: { life: "x".repeat(65), number: 1 } }],
  ["a version of half", { kind: "undecided", since: { life: "x", number: 1.5 } }],
  ["version 0", { kind: "undecided", since: { life: "x", number: 0 } }],
  ["no snapshot", { ...CHANGED, to: undefined }],
  ["a snapshot of text", { ...CHANGED, to: "open" }],
  ["a state that is none", { ...CHANGED, to: { ...OPEN, state: "ajar" } }],
  ["half-open", { ...CHANGED, to: { ...OPEN, state: "half_open" } }],
  ["half-open by an operator", { ...CHANGED, operator: true, to: { ...OPEN, state: "half_open" } }],
  ["held open by calls", { ...CHANGED, to: { ...OPEN, state: "forced_open", timeLeft: 0 } }],
  ["disabled by calls", { ...CHANGED, to: { ...OPEN, state: "disabled", timeLeft: 0 } }],
  ["closed with time left", { ...CHANGED, to: { ...OPEN, state: "closed" } }],
  ["less than no time left", { ...CHANGED, to: { ...OPEN, timeLeft: -1 } }],
  ["time left as text", { ...CHANGED, to: { ...OPEN, timeLeft: "5" } }],
  ["for ever left", JSON.stringify(CHANGED).replace("500", "1e999")],
  ["imposed is a number", { ...CHANGED, to: { ...OPEN, imposed: 1 } }],
  ["256 reopenings", { ...CHANGED, to: { ...OPEN, reopenings: 256 } }],
  ["half a reopening", { ...CHANGED, to: { ...OPEN, reopenings: 0.5 } }],
  ["no word of since when", { ...CHANGED, since: undefined }],
  ["nobody's", { ...CHANGED, operator: "yes" }],
  ["no word of whether again", { ...CHANGED, again: undefined }],
  ["longer than anything", { ...CHANGED, more: "x".repeat(5_000) }],
];

describe("nonsense is answered with 400, and nothing is kept", () => {
  for (const [name, message] of NONSENSE) {
    test(name, async () => {
      const { storage, post, say } = create();
      const body = typeof message === "string" ? message : JSON.stringify(message);
      const refused = await post(body);
      assert.equal(refused.status, 400);
      assert.match(await refused.text(), /^[\w. ]+ is (no object|no JSON|nonsense|too long)$/);
      assert.equal(storage.kept.size, 0);
      assert.equal((await say({ kind: "read" })).snapshot.state, "closed", "it works on");
    });
  }
});

test("it is asked by POST", async () => {
  const { storage, object } = create();
  for (const method of ["GET", "PUT", "DELETE"]) {
    const { status, headers } = await object.fetch(new Request("https://object/", { method }));
    assert.deepEqual([status, headers.get("allow")], [405, "POST"]);
  }
  assert.equal(storage.kept.size, 0);
});

test("no more is kept than was looked at", async () => {
  const { storage, say } = create();
  const more = { ...CHANGED, to: { ...OPEN, more: "more" }, more: "more" } as unknown as Message;
  assert.equal((await say(more)).done, true);
  assert.doesNotMatch(JSON.stringify([...storage.kept]), /more/);
});

test("what can't be stored is not done", async () => {
  const { storage, say } = create();
  await say({ kind: "read" });
  storage.broken = true;
  await assert.rejects(say(CHANGED as Message), /the disk is full/);
  storage.broken = false;
  assert.equal((await say({ kind: "read" })).snapshot.state, "closed");
});

test("a report counts in the version that it names alone", async () => {
  const { say } = create();
  const { version } = await say({ kind: "read" });
  const closed = { ...OPEN, state: "closed", timeLeft: 0 } as const;
  const change = (since: typeof version | null, to: object = OPEN, operator = false) =>
    say({ kind: "changed", since, to, operator, again: false } as Message);
  for (const other of [
    LIFE,
    { ...version, number: version.number + 1 },
    { ...version, life: "other" },
  ]) {
    assert.deepEqual((await change(other)).version, version);
  }
  const opened = await change(version);
  assert.deepEqual([opened.done, opened.version.number], [true, version.number + 1]);
  assert.equal((await change(version, closed)).done, false, "a late one");
  assert.equal((await change(null, closed)).done, false, "of who knows of no opening");
  assert.equal((await change(null, closed, true)).done, true, "an operator's");
  assert.equal((await change(null)).done, true, "of who never was answered, while it is closed");
});

test("what an operator says again counts unless another one said something since", async () => {
  const { say } = create();
  const { version } = await say({ kind: "read" });
  const operate = (state: string, since: typeof version | null, again: boolean) =>
    say({
      kind: "changed",
      since,
      to: { ...OPEN, state, timeLeft: 0 },
      operator: true,
      again,
    } as Message);
  await say({ ...CHANGED, since: version } as Message);
  assert.equal((await operate("disabled", null, true)).done, true, "only calls did since");
  const disabled = await say({ kind: "read" });
  assert.equal((await operate("disabled", version, true)).done, false, "it had arrived");
  assert.equal((await operate("disabled", null, true)).done, false);
  assert.equal((await operate("shadow", version, false)).done, true, "at once, it always counts");
  assert.equal((await operate("closed", disabled.version, true)).done, false);
  const shadow = await say({ kind: "read" });
  assert.equal((await operate("closed", shadow.version, true)).done, true);
  await say({ ...CHANGED, since: null } as Message);
  assert.equal((await operate("closed", { ...shadow.version, life: "y" }, true)).done, false);
});

test("a lease is granted once the wait is over, to one, for so long", async () => {
  const { object, say } = create();
  const lease = () => say({ kind: "lease", time: 300 });
  assert.deepEqual((await lease()).done, false, "closed");
  await say(CHANGED as Message);
  object.time += 499;
  const early = await lease();
  assert.deepEqual([early.done, early.snapshot.timeLeft], [false, 1]);
  object.time += 1;
  const granted = await lease();
  assert.deepEqual([granted.done, granted.snapshot.timeLeft], [true, 300]);
  object.time += 299;
  const refused = await lease();
  assert.deepEqual([refused.done, refused.snapshot.timeLeft], [false, 1]);
  object.time += 1;
  const again = await lease();
  assert.deepEqual([again.done, again.version.number], [true, granted.version.number + 1]);
  const late = await say({ kind: "undecided", since: granted.version });
  assert.deepEqual([late.done, late.snapshot.state], [false, "half_open"]);
  const back = await say({ kind: "undecided", since: again.version });
  assert.deepEqual([back.done, back.snapshot.state, back.snapshot.timeLeft], [true, "open", 0]);
});

test("a clock that is set back makes no wait and no lease longer than it was", async () => {
  const { object, say } = create();
  await say(CHANGED as Message);
  object.time -= 1_000_000;
  assert.equal((await say({ kind: "read" })).snapshot.timeLeft, 500);
  object.time += 499;
  assert.equal((await say({ kind: "lease", time: 300 })).snapshot.timeLeft, 1);
  object.time += 1;
  assert.equal((await say({ kind: "lease", time: 300 })).done, true);
  object.time -= 1_000_000;
  assert.equal((await say({ kind: "lease", time: 300 })).snapshot.timeLeft, 300);
  object.time += 300;
  assert.equal((await say({ kind: "lease", time: 300 })).done, true);
});

test("its own clock is the time of day, which outlives it", () => {
  const object = new BreakerObject({ storage: new Storage() });
  const before = Date.now();
  assert.ok(object.now() >= before && object.now() <= Date.now());
});
