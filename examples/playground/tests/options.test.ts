// The options: what can't be says so at its control, in the package's own words.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type BreakerOptions, CircuitBreaker } from "breaker-wasm";
import { type Playground, Pages } from "./page.js";

/** What the package itself says of options. */
function refusal(options: Omit<BreakerOptions, "name">): string {
  try {
    new CircuitBreaker({ name: "pms", ...options });
  } catch (error) {
    assert.ok(error instanceof TypeError);
    return error.message;
  }
  return assert.fail("there is such a breaker");
}

const byRate = (playground: Playground) => playground.page.check("[name=policy][value=rate]");
const withSlow = (playground: Playground) => playground.page.check("#slowCounts");

type Wrong = [
  option: string,
  value: string,
  said: string,
  first?: (playground: Playground) => Promise<void>,
];

const WRONG: Wrong[] = [
  ["threshold", "0", refusal({ threshold: 0 })],
  ["threshold", "2.5", refusal({ threshold: 2.5 })],
  ["threshold", "", refusal({ threshold: NaN })],
  ["reset", "0", refusal({ reset: "0s" })],
  ["reset", "-1", refusal({ reset: "-1s" })],
  ["backoff", "0.5", refusal({ backoff: 0.5 })],
  ["jitter", "2", refusal({ jitter: 2 })],
  ["probes", "512", refusal({ probes: 512 })],
  ["closeAfter", "0", refusal({ closeAfter: 0 })],
  ["timeout", "90", refusal({ reset: "5s", timeout: "90s" })],
  ["failureRate", "1.5", refusal({ failureRate: 1.5 }), byRate],
  ["minCalls", "30", refusal({ failureRate: 0.5, window: 20, minCalls: 30 }), byRate],
  ["window", "0", refusal({ failureRate: 0.5, window: 0 }), byRate],
  [
    "slowRate",
    "0",
    refusal({ failureRate: 0.5, slow: "2s", slowRate: 0 }),
    async (playground) => {
      await byRate(playground);
      await withSlow(playground);
    },
  ],
];

describe("options", () => {
  let pages: Pages;
  before(async () => {
    pages = await Pages.start();
  });
  after(() => pages.stop());

  for (const [option, value, said, first] of WRONG) {
    test(`${option} = ${value || "nothing"}`, () =>
      pages.use(async (playground) => {
        await first?.(playground);
        const before = await playground.page.inputValue(`#${option}`);
        await playground.set(option, value);
        await playground.sees(`#${option}-error`, said);
        await playground.sees("#unused", /^Not in use/);
        assert.equal(await playground.page.getAttribute(`#${option}`, "aria-invalid"), "true");
        assert.equal(await playground.page.locator(".error:not(:empty)").count(), 1);
        // The last breaker that works goes on.
        await playground.be("failing");
        await playground.pass(2);
        assert.ok((await playground.count("failed")) > 0);
        await playground.set(option, before);
        await playground.sees(`#${option}-error`, "");
        await playground.sees("#unused", "");
        assert.equal(await playground.page.getAttribute(`#${option}`, "aria-invalid"), "false");
      }));
  }

  test("slow calls need a failure rate", () =>
    pages.use(async (playground) => {
      await withSlow(playground);
      const said = refusal({ threshold: 5, slow: "2s", slowRate: 0.5 });
      assert.match(said, /need failureRate: write it too$/);
      await playground.sees("#slow-error", said);
      await byRate(playground);
      await playground.sees("#slow-error", "");
    }));

  test("a window of time that is too short", () =>
    pages.use(async (playground) => {
      await byRate(playground);
      await playground.page.check("[name=windowOf][value=seconds]");
      await playground.set("window", "0.001");
      await playground.sees(
        "#window-error",
        refusal({ failureRate: 0.5, window: "1ms", minCalls: 10 }),
      );
    }));

  test("a rate of calls that is none", () =>
    pages.use(async (playground) => {
      for (const value of ["-1", "", "1000"]) {
        await playground.set("rate-field", value);
        await playground.sees("#rate-field-error", "expected a number from 0 to 100");
      }
      await playground.set("rate-field", "7");
      await playground.sees("#rate-field-error", "");
    }));

  test("the slider and the field are one", () =>
    pages.use(async (playground) => {
      const slider = playground.page.getByRole("slider", { name: "Failures in a row" });
      await slider.fill("7");
      assert.equal(await playground.page.inputValue("#threshold"), "7");
      await playground.sees("#typescript", /threshold: 7,/);
      await playground.set("threshold", "12");
      assert.equal(await slider.inputValue(), "12");
    }));

  test("successes that close follow the probes until they are set themselves", () =>
    pages.use(async (playground) => {
      await playground.set("probes", "3");
      assert.equal(await playground.page.inputValue("#closeAfter"), "3");
      await playground.set("closeAfter", "5");
      await playground.set("probes", "2");
      assert.equal(await playground.page.inputValue("#closeAfter"), "5");
      await playground.sees("#rust", /probes = 2,\s+close_after = 5,/);
    }));

  test("another option keeps the state that the breaker is in", () =>
    pages.use(async (playground) => {
      await playground.set("jitter", "0");
      await playground.be("failing");
      await playground.pass(3);
      await playground.is("Open");
      await playground.set("probes", "2");
      await playground.is("Open");
      await playground.sees("#now span:last-child", /^\d\.\d s until a probe$/);
    }));
});
