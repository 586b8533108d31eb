/** Options: what is refused, and what is said then. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type BreakerOptions,
  CircuitBreaker,
  KeyedCircuitBreakers,
  type KeyedOptions,
} from "breaker-wasm";
import { ended, succeed } from "./support.js";

/** What is wrong for a number of any kind. */
const NO_NUMBER: unknown[] = [null, true, "5", "", [], {}, () => 5, 5n, Symbol("five"), NaN];
const NO_COUNT: unknown[] = [...NO_NUMBER, Infinity, -Infinity, 0, -0, -1, 1.5, Number.MAX_VALUE];
const NO_RATIO: unknown[] = [...NO_NUMBER, Infinity, -Infinity, 0, -0.1, 1.0000001, 2];
const NO_DURATION: unknown[] = [
  ...NO_NUMBER,
  ...[Infinity, -Infinity, 0, -1, 1e-7, 2 ** 64 / 1e6, "0s", "-5s", "30", "30 s", "soon"],
];
const NO_FUNCTION: unknown[] = [null, true, 0, 1, "f", {}, [], Promise.resolve(), Symbol("f")];

const COUNT = /expected a whole number from 1 to \d+$/;
const RATIO = /expected a number above 0, at most 1$/;
const DURATION = /expected milliseconds above 0, or text like "30s" or "1m30s"$/;
const FUNCTION = /expected a function$/;

/** Each option: what is refused, what is said, what is accepted, and what it can't do without. */
const TABLE: Record<
  Exclude<keyof BreakerOptions, "name">,
  { wrong: unknown[]; expected: RegExp; right: unknown[]; beside?: Partial<BreakerOptions> }
> = {
  threshold: { wrong: [...NO_COUNT, 134217727], expected: COUNT, right: [1, 134217726] },
  failureRate: { wrong: NO_RATIO, expected: RATIO, right: [0.0001, 0.5, 1] },
  window: {
    wrong: [
      ...NO_COUNT.filter((value) => typeof value !== "string"),
      ...["", "5", "0s", "-1s", "soon", 4096],
    ],
    expected: /expected a whole number of calls from 1 to 4095, or text like "10s"$/,
    right: [1, 4095, "10ms", "10s", "1d"],
    beside: { failureRate: 0.5, minCalls: 1 },
  },
  minCalls: {
    wrong: [...NO_COUNT, 131072],
    expected: COUNT,
    right: [1, 100],
    beside: { failureRate: 0.5 },
  },
  slow: {
    wrong: NO_DURATION,
    expected: DURATION,
    right: [1, 0.5, "2s"],
    beside: { failureRate: 0.5, slowRate: 0.5 },
  },
  slowRate: {
    wrong: NO_RATIO,
    expected: RATIO,
    right: [0.1, 1],
    beside: { failureRate: 0.5, slow: "1s" },
  },
  reset: { wrong: NO_DURATION, expected: DURATION, right: [1, 0.25, "30s", "1m30s", "1.5s"] },
  backoff: {
    wrong: [...NO_NUMBER, Infinity, 0, -1, 0.999],
    expected: /expected a finite number of at least 1$/,
    right: [1, 1.5, 1000],
  },
  maxReset: {
    wrong: NO_DURATION,
    expected: DURATION,
    right: ["30s", "1h"],
    beside: { backoff: 2 },
  },
  jitter: {
    wrong: [...NO_NUMBER, Infinity, -0.1, 1.1],
    expected: /expected a number from 0 to 1$/,
    right: [0, 0.5, 1],
  },
  probes: { wrong: [...NO_COUNT, 512], expected: COUNT, right: [1, 511] },
  closeAfter: { wrong: [...NO_COUNT, 512], expected: COUNT, right: [1, 511] },
  closeRate: { wrong: NO_RATIO, expected: RATIO, right: [0.5, 1] },
  probeTimeout: { wrong: NO_DURATION, expected: DURATION, right: [1, "2m"] },
  onCancel: {
    wrong: [...NO_FUNCTION, "", "Ignore", "toString"],
    expected: /expected "ignore" or "failure"$/,
    right: ["ignore", "failure"],
  },
  timeout: { wrong: NO_DURATION, expected: DURATION, right: [1, 0.5, "60s"] },
  classify: { wrong: NO_FUNCTION, expected: FUNCTION, right: [() => true] },
  classifyOutput: { wrong: NO_FUNCTION, expected: FUNCTION, right: [() => true] },
  fallback: { wrong: NO_FUNCTION, expected: FUNCTION, right: [() => "stale", async () => 1] },
  fallbackOn: {
    wrong: [...NO_FUNCTION, "", "closed", "constructor"],
    expected: /expected "any" or "open"$/,
    right: ["any", "open"],
  },
  clock: { wrong: NO_FUNCTION, expected: FUNCTION, right: [() => 0, Date.now] },
};

const made = (options: unknown) => new CircuitBreaker(options as BreakerOptions);
const said = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof TypeError, String(error));
    return error.message;
  }
  assert.fail("accepted");
};

describe("an option of a wrong type or out of its range", () => {
  for (const [option, { wrong, expected, right, beside }] of Object.entries(TABLE)) {
    test(`${option} is refused by its name, with what is legal`, () => {
      for (const value of wrong) {
        const message = said(() => made({ name: "pms", ...beside, [option]: value }));
        assert.match(message, new RegExp(`^circuit \`pms\`: ${option} is `));
        assert.match(message, expected);
      }
      for (const value of right) {
        made({ name: "pms", ...beside, [option]: value });
        made({ name: "pms", [option]: undefined });
      }
    });
  }

  test("the message shows the value", () => {
    for (const [value, shown] of [
      [NaN, "NaN"],
      ["five", '"five"'],
      [null, "null"],
      [-1, "-1"],
      [() => 5, "of type function"],
      [{ five: 5 }, "of type object"],
      [Object.create(null), "of type object"],
      [Symbol("five"), "Symbol(five)"],
      [5n, "5"],
    ]) {
      const message = said(() => made({ name: "pms", threshold: value }));
      assert.match(message, new RegExp(`threshold is ${String(shown).replace(/[()]/g, "\\$&")}:`));
    }
  });

  test("a name that is none is refused", () => {
    for (const name of [null, 5, true, {}, [], () => "pms", Symbol("pms")]) {
      assert.match(
        said(() => made({ name })),
        /^circuit breaker: name is .*: expected text that is not empty$/,
      );
    }
    assert.match(
      said(() => made({ name: "" })),
      /^circuit breaker: name is "": expected text that is not empty$/,
    );
    for (const options of [{}, { threshold: 5 }, { name: undefined }]) {
      assert.match(
        said(() => made(options)),
        /^circuit breaker: name is missing: expected text that is not empty$/,
      );
    }
  });

  test("what is no object of options is refused", () => {
    const wrong = [undefined, null, 5, "pms", true, Symbol("pms"), 5n, [], [{ name: "pms" }]];
    for (const options of [...wrong, () => {}, new Map([["name", "pms"]]), new Date(0)]) {
      assert.equal(
        said(() => made(options)),
        "circuit breaker: expected an object of options",
      );
    }
  });
});

describe("unknown options", () => {
  const unknown = /^circuit `pms`: unknown option (\S+): expected threshold, failureRate, .*clock/;
  test("are refused, and the known ones listed", () => {
    for (const option of ["treshold", "Threshold", "", "0", "toString", "constructor", "maxKeys"]) {
      const message = said(() => made({ name: "pms", [option]: 5 }));
      assert.match(message, /^circuit `pms`: unknown option /);
      for (const known of [...Object.keys(TABLE), "name"]) {
        assert.ok(message.includes(known), `${message}: ${known}`);
      }
    }
  });

  test("are refused also where they are undefined", () => {
    assert.match(
      said(() => made({ name: "pms", treshold: undefined })),
      unknown,
    );
  });

  test("`__proto__` of parsed text is one", () => {
    const parsed = JSON.parse('{"name": "pms", "__proto__": {"threshold": 1}}');
    assert.match(
      said(() => made(parsed)),
      unknown,
    );
  });

  test("what an object inherits is no option", async () => {
    const inherited = Object.assign(Object.create({ threshold: 1, unheard: 1, window: "1s" }), {
      name: "pms",
    });
    const breaker = made(inherited);
    await ended(breaker.call(() => Promise.reject(new Error("down"))));
    assert.equal(breaker.state, "closed");
    assert.match(
      said(() => made(Object.create({ name: "pms" }))),
      /name is missing/,
    );
  });

  test("options of a class, or without a prototype, are options", () => {
    class Options {
      name = "pms";
      threshold = 2;
    }
    assert.equal(made(new Options()).name, "pms");
    const bare = Object.assign(Object.create(null), { name: "bare" });
    assert.equal(made(bare).name, "bare");
    assert.equal(made(Object.freeze({ name: "frozen" })).name, "frozen");
  });
});

describe("options that contradict each other", () => {
  for (const [options, message] of [
    [{ threshold: 5, failureRate: 0.5 }, "threshold and failureRate contradict each other"],
    [{ window: 5 }, "window, minCalls, slow and slowRate need failureRate"],
    [{ window: "5s" }, "window, minCalls, slow and slowRate need failureRate"],
    [{ minCalls: 5 }, "window, minCalls, slow and slowRate need failureRate"],
    [{ slow: 5, slowRate: 0.5 }, "window, minCalls, slow and slowRate need failureRate"],
    [{ failureRate: 0.5, window: 10, minCalls: 11 }, "minCalls is above window"],
    [{ failureRate: 0.5, slow: "1s" }, "slow needs slowRate"],
    [{ failureRate: 0.5, slowRate: 0.5 }, "slowRate needs slow"],
    [{ failureRate: 0.5, window: "9ms" }, "window is below 10ms"],
    [{ closeAfter: 2, closeRate: 0.5 }, "closeAfter and closeRate contradict each other"],
    [{ backoff: 2, maxReset: "29s" }, "maxReset is below reset"],
    [{ reset: "2m", backoff: 2, maxReset: "1m" }, "maxReset is below reset"],
    [{ timeout: "61s" }, "timeout is above probeTimeout"],
    [{ timeout: 1001, probeTimeout: "1s" }, "timeout is above probeTimeout"],
    [{ closeRate: 0.5, probes: 256 }, "probes is above 255 beside closeRate"],
  ] as [Partial<BreakerOptions>, string][]) {
    test(message, () => {
      const told = said(() => made({ name: "pms", ...options }));
      assert.ok(told.startsWith(`circuit \`pms\`: ${message}`), told);
      assert.match(told, /: write \S/);
      assert.equal(
        said(() => new KeyedCircuitBreakers({ name: "pms", ...options })),
        told,
      );
    });
  }

  test("at their limits they don't", () => {
    for (const options of [
      { failureRate: 0.5, window: 10, minCalls: 10 },
      { failureRate: 0.5, window: "10ms" },
      { backoff: 2, maxReset: "30s" },
      { timeout: "60s" },
      { reset: "2m", timeout: "2m" },
      { closeRate: 0.5, probes: 255 },
    ] as Partial<BreakerOptions>[]) {
      made({ name: "pms", ...options });
    }
  });
});

describe("options of a call", () => {
  const breaker = made({ name: "pms" });
  const ways: [string, (options: any) => Promise<string>][] = [
    ["call", async (options) => String(await ended(breaker.call(succeed, options)))],
    ["wrap", async (options) => said(() => breaker.wrap(succeed, options))],
  ];
  for (const [name, tell] of ways) {
    test(`${name} refuses what is no object of options`, async () => {
      const wrong = [null, 0, 5, "", "2s", true, false, Symbol("s"), [], ["2s"], () => {}, 5n];
      for (const options of [...wrong, new AbortController().signal, new Map()]) {
        assert.match(await tell(options), /circuit `pms`: expected an object of options$/);
      }
    });

    test(`${name} refuses a setting of the breaker, and what is no option`, async () => {
      for (const option of ["threshold", "reset", "name", "clock", "treshold", "__proto__"]) {
        const options = JSON.parse(`{"${option}": 5}`);
        assert.match(
          await tell(options),
          /circuit `pms`: unknown option .*: expected timeout, classify, classifyOutput, fallback/,
        );
      }
    });

    test(`${name} refuses what is of a wrong type`, async () => {
      for (const option of ["timeout", "classify", "classifyOutput", "fallback", "fallbackOn"]) {
        const { wrong, expected } = TABLE[option as "timeout"];
        for (const value of wrong) {
          const message = await tell({ [option]: value });
          assert.ok(message.includes(`circuit \`pms\`: ${option} is `), message);
          assert.match(message, expected);
        }
      }
      assert.match(await tell({ timeout: "61s" }), /timeout is above probeTimeout/);
    });
  }

  test("a timeout may be as long as the breaker's probeTimeout, also where nobody said one", async () => {
    for (const [options, longest, longer] of [
      [{}, "60s", 60_001],
      [{ reset: "10s" }, "60s", 60_001],
      [{ reset: "2m" }, "2m", 120_001],
      [{ reset: "2m", probeTimeout: "5s" }, "5s", 5_001],
    ] as const) {
      const breaker = made({ name: "pms", ...options });
      assert.equal(await breaker.call(succeed, { timeout: longest }), "fresh");
      assert.equal(await breaker.wrap(succeed, { timeout: longest })(), "fresh");
      assert.match(
        said(() => breaker.wrap(succeed, { timeout: longer })),
        /timeout is above probeTimeout/,
      );
    }
  });

  test("a signal that is none is refused", async () => {
    for (const signal of [null, 5, {}, "abort", new AbortController()]) {
      const error = await ended(breaker.call(succeed, { signal } as never));
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /^circuit `pms`: signal is .*: expected an AbortSignal$/);
    }
  });

  test("wrap takes no signal: it would be that of every call", () => {
    const { signal } = new AbortController();
    assert.match(
      said(() => breaker.wrap(succeed, { signal } as never)),
      /unknown option signal/,
    );
  });

  test("undefined is as if it wasn't there", async () => {
    const nothing = { timeout: undefined, classify: undefined, fallback: undefined };
    assert.equal(await breaker.call(succeed, undefined), "fresh");
    assert.equal(await breaker.call(succeed, { ...nothing, signal: undefined }), "fresh");
    assert.equal(await breaker.wrap(succeed, undefined)(), "fresh");
    assert.equal(await breaker.wrap(succeed, nothing)(), "fresh");
  });

  test("what isn't a function isn't called", async () => {
    for (const f of [null, undefined, 5, "f", {}, Promise.resolve()]) {
      assert.match(
        said(() => breaker.wrap(f as never)),
        /^circuit `pms`: the call is .*: expected a function$/,
      );
      const error = await ended(breaker.call(f as never));
      assert.ok(error instanceof TypeError);
      assert.match(error.message, /^circuit `pms`: the call is .*: expected a function$/);
    }
  });
});

describe("keyed breakers", () => {
  const keyed = (options: object) => new KeyedCircuitBreakers(options as KeyedOptions);
  test("take the options of a breaker, and maxKeys", () => {
    for (const maxKeys of [...NO_COUNT, 16_777_217]) {
      assert.match(
        said(() => keyed({ name: "hosts", maxKeys })),
        /^circuit `hosts`: maxKeys is .*: expected a whole number from 1 to 16777216$/,
      );
    }
    for (const maxKeys of [undefined, 1, 16_777_216]) {
      keyed({ name: "hosts", maxKeys });
    }
    assert.match(
      said(() => keyed({ name: "hosts", maxkeys: 5 })),
      /unknown option maxkeys: .*maxKeys/,
    );
    assert.match(
      said(() => keyed({ name: "hosts", threshold: 0 })),
      /threshold is 0/,
    );
    assert.match(
      said(() => keyed({})),
      /name is missing/,
    );
  });

  test("wrap looks at everything it gets before the first call", () => {
    const hosts = keyed({ name: "hosts" });
    const key = () => "a";
    assert.match(
      said(() => hosts.wrap(5 as never, key)),
      /circuit `hosts`: the call is 5: expected a function$/,
    );
    assert.match(
      said(() => hosts.wrap(succeed, "a" as never)),
      /circuit `hosts`: the key is "a": expected a function$/,
    );
    assert.match(
      said(() => hosts.wrap(succeed, key, { timeout: NaN })),
      /circuit `hosts`: timeout is NaN/,
    );
    assert.match(
      said(() => hosts.wrap(succeed, key, null as never)),
      /circuit `hosts`: expected an object of options$/,
    );
  });
});
