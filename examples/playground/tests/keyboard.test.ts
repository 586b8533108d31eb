// By keyboard alone.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Playground, Pages } from "./page.js";

/** What has the focus, by its id, its name and value, or its text. */
const FOCUSED = `(() => {
  const focused = document.activeElement;
  if (focused === document.body) return "body";
  return focused.id || (focused.name ? focused.name + "=" + focused.value : "") ||
    focused.getAttribute("aria-label") || focused.textContent;
})()`;

/** Whether it, or the label around it, has an outline that can be seen. */
const OUTLINED = `[document.activeElement, document.activeElement.closest("label")].some((element) => {
  const { outlineStyle, outlineWidth } = getComputedStyle(element ?? document.body);
  return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
})`;

/** Whether nothing lies over it. */
const UNCOVERED = `(() => {
  const { left, top, width, height } = document.activeElement.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + Math.min(height, 40) / 2);
  return document.activeElement.contains(there) || !!there?.closest("label")?.contains(document.activeElement);
})()`;

async function tabTo(playground: Playground, wanted: string, key = "Tab"): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if ((await playground.page.evaluate(FOCUSED)) === wanted) return;
    await playground.page.keyboard.press(key);
  }
  assert.fail(`${key} never came to ${wanted}`);
}

describe("by keyboard alone", () => {
  let pages: Pages;
  before(async () => {
    pages = await Pages.start();
  });
  after(() => pages.stop());

  test("the circuit trips, and closes again", () =>
    pages.use(async (playground) => {
      const { keyboard } = playground.page;
      await tabTo(playground, "jitter");
      await keyboard.press("ControlOrMeta+A");
      await keyboard.type("0");
      await tabTo(playground, "behaviour=scripted", "Shift+Tab");
      await keyboard.press("ArrowDown");
      await keyboard.press("ArrowDown");
      await playground.sees("#health b", /^Failing/);
      await tabTo(playground, "step", "Shift+Tab");
      for (const time of ["1.0 s", "2.0 s"]) {
        await keyboard.press("Space");
        await playground.sees("#clock", time);
      }
      await playground.is("Open");
      await tabTo(playground, "behaviour=failing");
      await keyboard.press("ArrowUp");
      await playground.sees("#health b", /^Healthy/);
      await tabTo(playground, "step", "Shift+Tab");
      for (const time of ["3.0 s", "4.0 s", "5.0 s", "6.0 s", "7.0 s"]) {
        await keyboard.press("Enter");
        await playground.sees("#clock", time);
      }
      await playground.is("Closed");
      await playground.sees("#status", /^Closed: the dependency is back/);
    }));

  test("an operator's call, an option by its slider, play and pause", () =>
    pages.use(async (playground) => {
      const { keyboard } = playground.page;
      await tabTo(playground, "Force open");
      await keyboard.press("Enter");
      await playground.is("Forced open");
      await tabTo(playground, "Failures in a row");
      await keyboard.press("ArrowRight");
      await playground.sees("#typescript", /threshold: 6,/);
      await tabTo(playground, "play", "Shift+Tab");
      await keyboard.press("Space");
      await playground.sees("#play", "Pause");
      await keyboard.press("Space");
      await playground.sees("#play", "Play");
    }));

  test("each control is reached, in its order, seen and not covered", () =>
    pages.use(async (playground) => {
      await playground.page.check("[name=policy][value=rate]");
      await playground.page.check("#slowCounts");
      // A group of radio buttons is one stop.
      const wanted = await playground.page.evaluate<string[]>(`(() => {
        const stops = [...document.querySelectorAll("button, input, [tabindex='0']")].filter(
          (element) => element.checkVisibility() && !element.disabled &&
            (element.type !== "radio" || element.checked));
        return stops.map((element, place) => { element.dataset.stop = place; return String(place); });
      })()`);
      await playground.page.evaluate("document.activeElement.blur(), scrollTo(0, 0)");
      await playground.page.click("h1");
      const reached: string[] = [];
      for (const _ of wanted) {
        await playground.page.keyboard.press("Tab");
        const stop = await playground.page.evaluate<string>(FOCUSED);
        assert.equal(await playground.page.evaluate(OUTLINED), true, `${stop} has no outline`);
        assert.equal(await playground.page.evaluate(UNCOVERED), true, `${stop} is covered`);
        reached.push(await playground.page.evaluate("document.activeElement.dataset.stop"));
      }
      assert.deepEqual(reached, wanted);
      assert.ok(wanted.length > 35, `${wanted.length} stops`);
    }));
});
