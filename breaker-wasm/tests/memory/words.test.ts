/** Words in the memory of the module, at which the package looks without a call. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { CircuitBreaker, CircuitOpenError, KeyedCircuitBreakers } from "breaker-wasm";
import type { Exports } from "../../js/generated/exports.js";
import { Down, Held, ManualClock, breakerAt, ended, fail, succeed, trip } from "../support.js";

/** More than any memory holds that has not grown. */
const MANY = 20_000;

const CLOSED = 0;
const OPEN = 1;

describe("breakers that were made before the memory grew", () => {
  const settings = { name: "pms", reset: "1h" };
  const grow = () => {
    for (let made = 0; made < MANY; made++) new CircuitBreaker(settings);
  };

  test("count on, in a row", async () => {
    const breaker = new CircuitBreaker({ ...settings, threshold: 3 });
    const [failing, succeeding] = [breaker.wrap(fail), breaker.wrap(succeed)];
    assert.ok((await ended(failing())) instanceof Down);
    assert.ok((await ended(failing())) instanceof Down);
    grow();
    assert.equal(await succeeding(), "fresh");
    assert.equal(breaker.snapshot().consecutive, 0);
    for (let failed = 0; failed < 3; failed++) await ended(failing());
    assert.equal(breaker.state, "open");
    grow();
    assert.equal(breaker.state, "open");
    assert.equal(breaker.generation, 1);
    breaker.close();
    assert.equal(await succeeding(), "fresh");
  });

  test("count on, by rate", async () => {
    const breaker = new CircuitBreaker({ ...settings, failureRate: 0.5, minCalls: 4 });
    await ended(breaker.call(fail));
    await ended(breaker.call(fail));
    grow();
    await breaker.call(succeed);
    assert.equal(breaker.state, "closed");
    await breaker.call(succeed);
    assert.equal(breaker.state, "open");
  });

  test("settle a call that was made before", async () => {
    const breaker = new CircuitBreaker({ ...settings, threshold: 1 });
    const wrapped = breaker.wrap(async () => {
      await Promise.resolve();
      grow();
      throw new Down();
    });
    assert.ok((await ended(wrapped())) instanceof Down);
    assert.equal(breaker.state, "open");
  });

  test("are found by their key", async () => {
    const breakers = new KeyedCircuitBreakers({ ...settings, threshold: 1, maxKeys: MANY });
    await ended(breakers.call("down", fail));
    for (let key = 1; key < MANY; key++) breakers.get(`${key}`);
    // One place is left for it: of those that are closed.
    breakers.get("another");
    assert.equal(breakers.size, MANY);
    assert.equal(breakers.get("down").state, "open");
    assert.equal(breakers.get(`${MANY - 1}`).state, "closed");
  });
});

test("a function that was wrapped looks at the word before each call", async () => {
  const clock = new ManualClock();
  const breaker = breakerAt(clock);
  let f: () => Promise<unknown> = succeed;
  const wrapped = breaker.wrap(() => f());
  const isRefused = async () => (await ended(wrapped())) instanceof CircuitOpenError;
  for (let opened = 0; opened < 3; opened++) {
    assert.equal(await wrapped(), "fresh");
    f = fail;
    assert.ok((await ended(wrapped())) instanceof Down);
    assert.ok(await isRefused());
    clock.now += 1000;
    const probe = new Held();
    f = probe.run;
    const probing = wrapped();
    assert.ok(await isRefused());
    assert.ok(await isRefused());
    probe.resolve("back");
    assert.equal(await probing, "back");
    assert.equal(breaker.state, "closed");
    assert.equal(probe.calls, 1);
    f = succeed;
  }
  breaker.forceOpen();
  assert.ok(await isRefused());
});

test("a probe is of the trial that admitted it, whatever listeners did meanwhile", async () => {
  const clock = new ManualClock();
  const breaker = breakerAt(clock);
  await trip(breaker);
  clock.now += 1000;
  breaker.on("halfOpen", () => breaker.close());
  assert.ok((await ended(breaker.wrap(fail)())) instanceof Down);
  assert.equal(breaker.state, "closed");
});

describe("the module", () => {
  let wasm: Exports;
  before(() => {
    const bytes = readFileSync(new URL("../../dist/breaker.wasm", import.meta.url));
    wasm = new WebAssembly.Instance(new WebAssembly.Module(bytes))
      .exports as unknown as typeof wasm;
  });

  const said = () => new Float64Array(wasm.memory.buffer, wasm.exchange(), 18);
  const create = (settings: Record<number, number> = {}) => {
    said().fill(NaN);
    for (const [place, value] of Object.entries(settings)) said()[Number(place)] = value;
    return wasm.create();
  };
  const halves = (number: number) => [...new Int32Array(wasm.memory.buffer, number, 2)];
  const THRESHOLD = 0;
  const FAILURE_RATE = 1;
  const MIN_CALLS = 3;
  const fails = (number: number) => wasm.settle(number, halves(number)[0]! >>> 3, 1, 0, 0, 0, 0.5);

  test("exports its memory and its functions, and nothing of the tools that made it", () => {
    const names = Object.keys(wasm).filter((name) => name.startsWith("_"));
    assert.deepEqual(names, []);
    const { memory, ...functions } = wasm;
    assert.ok(memory instanceof WebAssembly.Memory);
    for (const each of Object.values(functions)) assert.equal(typeof each, "function");
  });

  test("has a breaker's word at its number", () => {
    const number = create({ [THRESHOLD]: 2 });
    assert.deepEqual(halves(number), [CLOSED, 0]);
    fails(number);
    // A failure in a row, above state, generation and reopenings.
    assert.deepEqual(halves(number), [CLOSED, 1 << 5]);
    fails(number);
    assert.equal(halves(number)[0], OPEN | (1 << 3));
    // No payload in it, so this is all of the word.
    wasm.operate(number, CLOSED, 0, 0);
    assert.deepEqual(halves(number), [CLOSED | (2 << 3), 0]);
  });

  test("gives a number out again, and nothing of what was counted there", () => {
    const group = create({ [FAILURE_RATE]: 1, [MIN_CALLS]: 2 });
    const { buffer } = wasm.memory;
    const numbers = new Set<number>();
    for (let made = 0; made < MANY; made++) {
      const number = made % 2 ? wasm.fork(group) : create({ [FAILURE_RATE]: 1, [MIN_CALLS]: 2 });
      numbers.add(number);
      assert.deepEqual(halves(number), [CLOSED, 0]);
      fails(number);
      assert.equal(halves(number)[0], CLOSED);
      fails(number);
      assert.equal(halves(number)[0]! & 7, OPEN);
      wasm.free(number);
    }
    assert.ok(numbers.size <= 2, `${numbers.size} numbers`);
    assert.equal(wasm.memory.buffer, buffer);
  });

  test("moves no breaker when the memory grows", () => {
    const number = create({ [THRESHOLD]: 9 });
    fails(number);
    const { buffer } = wasm.memory;
    while (wasm.memory.buffer === buffer) create();
    assert.deepEqual(halves(number), [CLOSED, 1 << 5]);
    fails(number);
    assert.deepEqual(halves(number), [CLOSED, 2 << 5]);
  });
});
