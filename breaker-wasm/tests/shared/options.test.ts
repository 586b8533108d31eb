/** What `sharedBreaker` is given. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CircuitBreaker, CircuitOpenError } from "breaker-wasm";
import {
  BreakerObject,
  type ObjectNamespace,
  type RequestContext,
  type SharedOptions,
  sharedBreaker,
} from "breaker-wasm/durable-object";
import { ManualClock, consoleErrorsDuring, ended, fail, idle, succeed } from "../support.js";

/** Objects in this process. */
function createNamespace() {
  const objects = new Map<string, BreakerObject>();
  const asked: string[] = [];
  // One message after the other, as the platform sees to.
  let turn: Promise<unknown> = Promise.resolve();
  const namespace: ObjectNamespace = {
    idFromName: (name) => name,
    get: (id) => ({
      fetch: (url, init) => {
        const name = String(id);
        asked.push(name);
        let object = objects.get(name);
        if (!object) {
          const kept = new Map<string, unknown>();
          const storage = {
            get: async (key: string) => kept.get(key),
            put: async (key: string, value: unknown) => void kept.set(key, value),
          };
          object = new BreakerObject({ storage });
          objects.set(name, object);
        }
        const present = object;
        const answered = turn.then(() => present.fetch(new Request(url, init)));
        turn = answered;
        return answered;
      },
    }),
  };
  return { namespace, asked, objects };
}

const RIGHT = { threshold: 1, reset: "30s", jitter: 0 } satisfies SharedOptions;

describe("a wrong option is named, with what is legal", () => {
  const { namespace } = createNamespace();
  const wrong: [unknown, RegExp][] = [
    [{ maxAge: 0 }, /^circuit `pms`: maxAge is 0: expected milliseconds above 0, or text like/],
    [{ maxAge: NaN }, /^circuit `pms`: maxAge is NaN: expected milliseconds/],
    [{ maxAge: "soon" }, /^circuit `pms`: maxAge is "soon": expected milliseconds/],
    [{ objectTimeout: -1 }, /^circuit `pms`: objectTimeout is -1: expected milliseconds/],
    [{ objectTimeout: null }, /^circuit `pms`: objectTimeout is null: expected milliseconds/],
    [{ objectTimeout: 5001 }, /^circuit `pms`: objectTimeout is above maxAge/],
    [{ maxAge: 500, objectTimeout: 501 }, /^circuit `pms`: objectTimeout is above maxAge/],
    [{ threshold: 0 }, /^circuit `pms`: threshold is 0: expected a whole number from 1/],
    [{ maxage: 1 }, /^circuit `pms`: unknown option maxage: expected threshold, .*, maxAge, obj/],
    [{ name: "pms" }, /^circuit `pms`: name is no option here, but the second parameter/],
    [{ minCalls: 5 }, /^circuit `pms`: window, minCalls, slow and slowRate need failureRate/],
    [{ timeout: "61s" }, /^circuit `pms`: timeout is above probeTimeout/],
    [5, /^circuit `pms`: expected an object of options/],
    [null, /^circuit `pms`: expected an object of options/],
    [[], /^circuit `pms`: expected an object of options/],
  ];
  for (const [options, message] of wrong) {
    test(JSON.stringify(options), () => {
      const share = () => sharedBreaker(namespace, "pms", options as SharedOptions);
      assert.throws(share, (error) => error instanceof TypeError && message.test(error.message));
    });
  }

  for (const name of [undefined, "", 5, null, {}]) {
    test(`the name is ${JSON.stringify(name)}`, () => {
      const share = () => sharedBreaker(namespace, name as string, RIGHT);
      assert.throws(share, (error) => error instanceof TypeError && /name is /.test(error.message));
    });
  }

  for (const binding of [undefined, null, 5, "BREAKERS", {}, { get() {} }, { idFromName() {} }]) {
    test(`the binding is ${JSON.stringify(binding)}`, () => {
      const share = () => sharedBreaker(binding as unknown as ObjectNamespace, "pms", RIGHT);
      assert.throws(share, /^TypeError: circuit `pms`: the namespace is .*like env.BREAKERS$/);
    });
  }

  for (const context of [null, {}, { waitUntil: 5 }, () => {}]) {
    test(`the context is ${JSON.stringify(context)}`, () => {
      const share = () =>
        sharedBreaker(namespace, "pms", RIGHT, context as unknown as RequestContext);
      assert.throws(share, /^TypeError: circuit `pms`: the context has no waitUntil/);
    });
  }
});

test("a shorter age brings a shorter timeout", () => {
  const { namespace } = createNamespace();
  sharedBreaker(namespace, "pms", { maxAge: 500 });
  sharedBreaker(namespace, "pms", { maxAge: 500, objectTimeout: 500 });
});

test("settings that differ from those the name had are refused", () => {
  const { namespace } = createNamespace();
  sharedBreaker(namespace, "pms", RIGHT);
  for (const other of [{ ...RIGHT, threshold: 3 }, { ...RIGHT, maxAge: 5001 }, { reset: "30s" }]) {
    assert.throws(
      () => sharedBreaker(namespace, "pms", other),
      /^TypeError: circuit `pms`: (threshold|maxAge|jitter) is .* expected the same settings/,
    );
  }
  sharedBreaker(namespace, "rates", { failureRate: 0.5, window: 100 });
  assert.throws(
    () => sharedBreaker(namespace, "rates", { failureRate: 0.5, window: "100ms" }),
    /^TypeError: circuit `rates`: window is 100ms, and was 100 before: expected the same settings/,
  );
  // The same in other words, and what each request has for itself.
  const { namespace: another } = createNamespace();
  for (const [binding, name, options] of [
    [namespace, "pms", { ...RIGHT, reset: 30_000, maxAge: "5s", objectTimeout: "1s" }],
    [namespace, "pms", { ...RIGHT, timeout: 5, classify: () => true, fallback: () => 1 }],
    [namespace, "crm", { threshold: 3 }],
    [another, "pms", { threshold: 3 }],
  ] as const) {
    sharedBreaker(binding, name, options);
  }
  assert.throws(
    () => sharedBreaker(namespace, "pms", { ...RIGHT, timeout: "61s" }),
    /timeout is above probeTimeout/,
  );
});

test("each request's functions are its own", async () => {
  const { namespace } = createNamespace();
  const of = (request: number) =>
    sharedBreaker(namespace, "pms", { ...RIGHT, fallback: () => request });
  assert.equal(await of(1).call(fail), 1);
  assert.equal(await of(2).call(fail), 2);
  const plain = sharedBreaker(namespace, "pms", RIGHT);
  assert.ok((await ended(plain.call(fail))) instanceof CircuitOpenError);
  assert.ok(plain instanceof CircuitBreaker);
});

test("a listener of a request hears what its own calls do, and no other's", async () => {
  const { namespace } = createNamespace();
  const heard: string[] = [];
  const first = sharedBreaker(namespace, "pms", RIGHT);
  first.on("open", () => heard.push("first"));
  first.on("open", () => {
    throw new Error("a listener's own");
  });
  const second = sharedBreaker(namespace, "pms", RIGHT);
  second.on("open", () => heard.push("second"));
  assert.equal((await consoleErrorsDuring(() => ended(first.call(fail)))).length, 1);
  assert.deepEqual(heard, ["first"]);
  assert.equal(second.state, "open");
});

test("an operator's call in a listener is for all, and told once", async () => {
  const { namespace, asked } = createNamespace();
  const breaker = sharedBreaker(namespace, "pms", RIGHT);
  let told: Promise<boolean> | undefined;
  breaker.on("open", () => (told ??= breaker.forceOpen()));
  breaker.on("sharingFailed", ({ cause }) => assert.fail(String(cause)));
  await ended(breaker.call(fail));
  assert.equal(await told, true);
  assert.equal(asked.length, 2, "it was read before the call, and changed once");
  assert.equal(breaker.state, "forced_open");
  await breaker.close();
  assert.equal(breaker.state, "closed");
});

test("restore is for all, and nonsense is refused", async () => {
  const { namespace } = createNamespace();
  const breaker = sharedBreaker(namespace, "pms", RIGHT);
  const open = { state: "open", timeLeft: 5000, imposed: false, consecutive: 0, reopenings: 2 };
  assert.equal(await breaker.restore(open as ReturnType<typeof breaker.snapshot>), true);
  assert.equal(breaker.snapshot().reopenings, 2);
  assert.throws(() => breaker.restore({} as never), /^TypeError: not a snapshot/);
  assert.equal(breaker.state, "open");
});

test("a context that refuses makes the call wait instead", async () => {
  const { namespace, asked } = createNamespace();
  const refusing = {
    waitUntil() {
      throw new Error("the request has ended");
    },
  };
  const breaker = sharedBreaker(namespace, "pms", RIGHT, refusing);
  await ended(breaker.call(fail));
  assert.equal(asked.length, 2);
  assert.equal(await breaker.close(), true);
});

test("the last thousand names are kept; the object knows those that were given up", async () => {
  const { namespace, asked } = createNamespace();
  const clock = new ManualClock();
  const of = (name: string) => sharedBreaker(namespace, name, { ...RIGHT, clock: clock.read });
  await of("first").forceOpen();
  await of("second").forceOpen();
  for (let other = 0; other < 998; other += 1) of(`pms ${other}`);
  assert.equal(of("first").state, "forced_open");
  of("one too many");
  assert.equal(of("first").state, "forced_open", "it was used");
  const second = of("second");
  assert.equal(second.state, "closed", "a new copy");
  asked.length = 0;
  assert.ok((await ended(second.call(succeed))) instanceof CircuitOpenError);
  assert.deepEqual(asked, ["second"]);
});

test("a name of which the object has something to hear is kept", async () => {
  const { namespace } = createNamespace();
  const state = { reachable: false };
  const troubled: ObjectNamespace = {
    idFromName: namespace.idFromName,
    get: (id) => {
      if (!state.reachable) throw new Error("unreachable");
      return namespace.get(id);
    },
  };
  const clock = new ManualClock();
  const of = (name: string) => sharedBreaker(troubled, name, { ...RIGHT, clock: clock.read });
  for (const name of ["first", "second"]) assert.equal(await of(name).forceOpen(), false);
  for (let other = 0; other < 1_500; other += 1) of(`pms ${other}`);
  state.reachable = true;
  clock.now += 6_000;
  for (const name of ["first", "second"]) {
    assert.equal(of(name).state, "forced_open");
    await ended(of(name).call(succeed));
    const elsewhere = sharedBreaker(namespace, name, { ...RIGHT, clock: clock.read });
    assert.ok((await ended(elsewhere.call(succeed))) instanceof CircuitOpenError, "it is told");
  }
});

/** A binding that holds its next answers, as many as `hold` says, until they are released. */
function createHeld({ idFromName, get }: ObjectNamespace) {
  const held: (() => void)[] = [];
  const state = { hold: 0 };
  const namespace: ObjectNamespace = {
    idFromName,
    get: (id) => ({
      async fetch(url, init) {
        const isHeld = state.hold > 0;
        if (isHeld) state.hold -= 1;
        const answer = await get(id).fetch(url, init);
        if (isHeld) await new Promise<void>((release) => held.push(release));
        return answer;
      },
    }),
  };
  return { namespace, held, state };
}

test("an answer that was overtaken by a later one is not gone by", async () => {
  const { namespace, held, state } = createHeld(createNamespace().namespace);
  for (const operate of ["forceOpen", "close"] as const) {
    const breaker = sharedBreaker(namespace, operate, RIGHT);
    state.hold = 1;
    const first = breaker.call(fail);
    assert.equal(await breaker[operate](), true);
    held.splice(0).forEach((release) => release());
    const refused = (await ended(first)) instanceof CircuitOpenError;
    assert.equal(refused, operate === "forceOpen");
    // What failed was counted in the present version, and not in the one of the late answer.
    assert.equal(breaker.state, operate === "forceOpen" ? "forced_open" : "open");
  }
});

test("an answer of an object that lost what it kept is not gone by, once a later life has answered", async () => {
  const { namespace: direct, objects } = createNamespace();
  const { namespace, held, state } = createHeld(direct);
  const clock = new ManualClock();
  const breaker = sharedBreaker(namespace, "pms", { ...RIGHT, clock: clock.read });
  await breaker.call(succeed);
  await sharedBreaker(direct, "pms", RIGHT).forceOpen();
  clock.now += 6_000;
  state.hold = 1;
  const overtaken = breaker.call(succeed);
  while (!held.length) await idle();
  objects.delete("pms");
  assert.equal(await breaker.call(succeed), "fresh");
  held.forEach((release) => release());
  assert.equal(await ended(overtaken), "fresh");
  assert.equal(breaker.state, "closed");
});

test("what was told stands, also where an answer of before it comes between", async () => {
  const { namespace: direct } = createNamespace();
  const { namespace, held, state } = createHeld(direct);
  const clock = new ManualClock();
  const talks: Promise<unknown>[] = [];
  const background = { waitUntil: (talk: Promise<unknown>) => void talks.push(talk) };
  const breaker = sharedBreaker(namespace, "pms", { ...RIGHT, clock: clock.read }, background);
  await breaker.call(succeed);
  await sharedBreaker(direct, "pms", RIGHT).shadow();
  clock.now += 2_500;
  state.hold = 2;
  await breaker.call(succeed);
  const reading = talks.at(-1);
  const told = breaker.forceOpen();
  while (held.length < 2) await idle();
  const [read, changed] = held;
  read?.();
  await reading;
  assert.equal(breaker.state, "forced_open", "whatever it crosses");
  changed?.();
  assert.equal(await told, true);
  assert.equal(breaker.state, "forced_open");
});

test("an object may take longer than a timer can wait", async (context) => {
  const { mock } = context.mock.method(globalThis, "setTimeout");
  const { namespace } = createNamespace();
  const month = 2_678_400_000;
  const options = { ...RIGHT, maxAge: month, objectTimeout: month };
  const breaker = sharedBreaker(namespace, "pms", options);
  assert.equal(await breaker.call(succeed), "fresh");
  const delays = mock.calls.map(({ arguments: [, delay] }) => delay);
  assert.deepEqual(delays, [2 ** 31 - 1]);
});

test("a call that is aborted while it waits for the object ends at once, and is not made", async () => {
  const { namespace, held, state } = createHeld(createNamespace().namespace);
  const breaker = sharedBreaker(namespace, "pms", RIGHT);
  for (const early of [true, false]) {
    state.hold = 1;
    const controller = new AbortController();
    const reason = new Error("the client is gone");
    if (early) controller.abort(reason);
    let made = 0;
    const call = breaker.call(() => (made += 1), { signal: controller.signal });
    controller.abort(reason);
    assert.equal(await ended(call), reason);
    assert.equal(made, 0);
  }
  held.forEach((release) => release());
  assert.equal(await breaker.call(succeed), "fresh");
});
