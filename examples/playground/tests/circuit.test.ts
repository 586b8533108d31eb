// What the page shows of a circuit: it trips, refuses, probes and closes, as its virtual time passes.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Playground, Pages } from "./page.js";

describe("the circuit on the page", () => {
  let pages: Pages;
  before(async () => {
    pages = await Pages.start();
  });
  after(() => pages.stop());

  /** Two calls a second, and a wait that is not drawn by lot. */
  async function steady(playground: Playground): Promise<void> {
    await playground.set("jitter", "0");
    await playground.set("rate-field", "2");
  }

  test("trips, refuses, probes and closes", () =>
    pages.use(async (playground) => {
      await steady(playground);
      await playground.is("Closed");
      await playground.be("healthy");
      await playground.pass(2);
      assert.equal(await playground.count("answered"), 3);

      await playground.be("failing");
      await playground.pass(2);
      await playground.sees("#now span:last-child", "3 of 5 failures in a row");
      assert.equal(await playground.page.locator('.pips [data-filled="true"]').count(), 3);

      await playground.pass(2);
      await playground.is("Open");
      assert.equal(await playground.count("failed"), 5);
      await playground.sees("#status", /^Open: 5 failures in a row\. Calls are refused/);
      await playground.sees("#now span:last-child", /^3\.\d s until a probe$/);
      await playground.pass(1);
      await playground.sees("#said", /^CircuitOpenError: circuit `pms` is open: retry in 2\.\d+s$/);
      const refused = await playground.count("refused");
      assert.ok(refused > 0);
      assert.equal(await playground.count("failed"), 5, "nothing reaches it");

      // A probe that fails.
      await playground.pass(5);
      assert.equal(await playground.count("probe"), 1);
      assert.equal(await playground.count("failed"), 6);
      await playground.is("Open");
      await playground.sees("#log li:first-child span", "the probe failed");

      // And one that doesn't.
      await playground.be("healthy");
      await playground.pass(6);
      await playground.is("Closed");
      assert.equal(await playground.count("probe"), 2);
      await playground.sees("#status", "Closed: the dependency is back. Calls go through.");
      const changes = await playground.page.locator("#log b").allTextContents();
      assert.deepEqual(changes.reverse(), [
        "Closed → Open",
        "Open → Half-open",
        "Half-open → Open",
        "Open → Half-open",
        "Half-open → Closed",
      ]);
    }));

  test("shows a probe while it is under way", () =>
    pages.use(async (playground) => {
      await steady(playground);
      await playground.page.uncheck("#timesOut");
      await playground.page.click("[data-operate=openFor]");
      await playground.is("Open");
      await playground.be("slow");
      await playground.pass(10);
      await playground.is("Half-open");
      await playground.sees("#now span:last-child", "1 probe out, 0 of 1 succeeded");
      const before = await playground.count("refused");
      await playground.pass(1);
      assert.equal(await playground.count("refused"), before + 2, "the others are refused");
      await playground.sees("#said", /is half-open and its probes are in flight/);
      await playground.pass(3);
      await playground.is("Closed");
    }));

  test("counts what was spared, call by call", () =>
    pages.use(async (playground) => {
      await steady(playground);
      await playground.set("threshold", "3");
      await playground.set("reset", "60");
      await playground.be("hanging");
      await playground.pass(10);
      // Calls at 0.5, 1, 1.5, .. s, each given up after 1 s: the third failure, at 2.5 s, opens it.
      // Until then five were made; the fifth, at 2.5 s, began before the third ended.
      const sent = Number(await playground.cost("troubled", "with"));
      assert.ok(sent === 4 || sent === 5, `${sent} requests`);
      assert.equal(await playground.cost("troubled", "without"), "20");
      assert.equal(await playground.cost("waited", "with"), `${sent}.0 s`);
      // 18 waited for a second; one began at 9.5 s, and one now.
      assert.equal(await playground.cost("waited", "without"), "18.5 s");
      assert.equal(await playground.cost("waiting", "with"), "0");
      assert.equal(await playground.count("timedOut"), sent);
      assert.equal(await playground.count("refused"), 20 - sent);
      await playground.sees(
        "#verdict",
        `So far the breaker spared the dependency ${20 - sent} requests, and its callers ${(18.5 - sent).toFixed(1)} s of waiting.`,
      );
    }));

  test("a 404 is an answer: nothing opens", () =>
    pages.use(async (playground) => {
      await steady(playground);
      await playground.be("missing");
      await playground.pass(8);
      await playground.is("Closed");
      assert.equal(await playground.count("ignored"), 15);
      await playground.sees("#now span:last-child", "0 of 5 failures in a row");
    }));

  test("the last good answer is served in place of a refusal and of a failure", () =>
    pages.use(async (playground) => {
      await steady(playground);
      await playground.page.check("#fallback");
      await playground.be("healthy");
      await playground.pass(2);
      await playground.be("failing");
      await playground.pass(5);
      await playground.is("Open");
      const [failed, refused] = [
        await playground.count("failed"),
        await playground.count("refused"),
      ];
      assert.ok(refused > 0);
      assert.equal(await playground.count("stale"), failed + refused);
      await playground.sees("#said", /^200: \d rooms? free, as of \d\.\d s ago$/);
    }));

  test("opens by rate, and by slow calls", () =>
    pages.use(async (playground) => {
      await steady(playground);
      await playground.page.check("[name=policy][value=rate]");
      await playground.set("minCalls", "4");
      await playground.page.check("#slowCounts");
      await playground.set("timeout", "10");
      await playground.be("slow");
      await playground.pass(5);
      await playground.is("Closed");
      await playground.sees(
        "#now span:last-child",
        /^0 of 3 calls failed, 3 slow, judged from 4 on$/,
      );
      await playground.pass(1);
      await playground.is("Open");
      await playground.sees("#log li:first-child span", "too large a share of calls was slow");
    }));

  for (const [operation, state, says] of [
    ["forceOpen", "Forced open", "Closed → Forced open"],
    ["disable", "Disabled", "Closed → Disabled"],
    ["shadow", "Shadow", "would have opened"],
  ] as const) {
    test(`an operator: ${state}`, () =>
      pages.use(async (playground) => {
        await steady(playground);
        await playground.be("failing");
        await playground.page.click(`[data-operate=${operation}]`);
        await playground.is(state);
        await playground.pass(4);
        await playground.is(state);
        await playground.sees("#log li:first-child b", says);
        assert.equal((await playground.count("refused")) > 0, operation === "forceOpen");
        await playground.page.click("[data-operate=close]");
        await playground.is("Closed");
      }));
  }

  test("without calls nothing changes by itself; one call is the probe", () =>
    pages.use(async (playground) => {
      await steady(playground);
      await playground.set("rate-field", "0");
      await playground.be("healthy");
      await playground.page.click("[data-operate=openFor]");
      await playground.pass(12);
      await playground.is("Open");
      await playground.sees("#now span:last-child", "the next call is a probe");
      assert.ok(await playground.page.isDisabled("#next"));
      await playground.page.click("#call");
      await playground.is("Half-open");
      await playground.pass(1);
      await playground.is("Closed");
    }));

  test("steps from call to call, and begins anew", () =>
    pages.use(async (playground) => {
      await steady(playground);
      await playground.page.click("#next");
      await playground.sees("#clock", "0.5 s");
      await playground.page.click("#next");
      await playground.sees("#clock", "1.0 s");
      await playground.sees("#calls", "1");
      await playground.page.click("[data-operate=forceOpen]");
      await playground.page.click("#restart");
      await playground.sees("#clock", "0.0 s");
      await playground.sees("#calls", "0");
      await playground.is("Closed");
      await playground.sees("#log", "No change of state yet.");
    }));

  test("the script plays an outage from its beginning to its end", () =>
    pages.use(async (playground) => {
      await playground.set("jitter", "0");
      const seen: string[] = [];
      for (let second = 0; second < 49; second++) {
        await playground.pass(1);
        const health = (await playground.text("#health b")).replace(/:.*/, "");
        if (seen.at(-1) !== health) seen.push(health);
      }
      assert.deepEqual(seen, ["Healthy", "Failing", "Slow", "Healthy"]);
      await playground.is("Closed");
      const [with_, without] = [
        Number(await playground.cost("troubled", "with")),
        Number(await playground.cost("troubled", "without")),
      ];
      assert.equal(without, 26 * 5);
      assert.ok(with_ < 15, `${with_} requests`);
    }));

  test("plays by itself until it is paused", () =>
    pages.use(
      async (playground) => {
        await playground.page.locator("#speed").fill("6");
        await playground.sees("#clock", /^[1-9]/);
        await playground.page.click("#play");
        await playground.sees("#play", "Play");
        const frames = () =>
          playground.page.evaluate<string>(`new Promise((done) => {
            let left = 20;
            requestAnimationFrame(function frame() {
              if (--left) requestAnimationFrame(frame);
              else done(document.querySelector("#clock").textContent);
            });
          })`);
        const paused = await frames();
        assert.equal(await frames(), paused);
      },
      { query: "" },
    ));

  test("begins paused for whoever wants less motion", () =>
    pages.use(
      async (playground) => {
        await playground.sees("#play", "Play");
        await playground.sees("#clock", "0.0 s");
        const animated = await playground.page.evaluate(
          () =>
            [...document.querySelectorAll("*")].filter(
              (element) => !/^(0s(, )?)+$/.test(getComputedStyle(element).transitionDuration),
            ).length,
        );
        assert.equal(animated, 0);
        await playground.page.click("#play");
        await playground.sees("#clock", /^[1-9]/);
      },
      { query: "", reducedMotion: "reduce" },
    ));
});
