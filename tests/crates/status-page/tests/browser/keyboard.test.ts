// By keyboard alone.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Looking, Service, type Shown } from "./service.ts";

/** Whether what has the focus has an outline that can be seen. */
const OUTLINED = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
  return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
})()`;

/** Whether nothing lies over it. */
const UNCOVERED = `(() => {
  const focused = document.activeElement;
  const { left, top, width, height } = focused.getBoundingClientRect();
  return focused.contains(document.elementFromPoint(left + width / 2, top + Math.min(height, 40) / 2));
})()`;

const FOCUSED = `document.activeElement.id || document.activeElement.getAttribute("data-act") ||
  document.activeElement.innerText.replaceAll("\\n", " ")`;

async function tabTo(shown: Shown, wanted: RegExp, key = "Tab"): Promise<void> {
  const seen: string[] = [];
  for (let presses = 0; presses < 60; presses++) {
    const focused = await shown.page.evaluate<string>(FOCUSED);
    if (wanted.test(focused)) return;
    seen.push(focused);
    await shown.page.keyboard.press(key);
  }
  assert.fail(`${key} never came to ${wanted}: ${seen.join(" | ")}`);
}

describe("by keyboard alone", () => {
  let looking: Looking;
  let service: Service;
  before(async () => {
    looking = await Looking.start();
    service = await Service.start();
  });
  after(async () => {
    await looking.stop();
    await service.stop();
  });

  test("a circuit is searched for, opened, forced open and closed", async () => {
    await service.tell({ make: "pms" }, { make: "rates" }, { make: "mail" });
    await looking.at(
      service.url("/ops"),
      async (shown) => {
        const { keyboard } = shown.page;
        await keyboard.press("/");
        assert.equal(await shown.page.evaluate("document.activeElement.id"), "text");
        await keyboard.type("a/");
        assert.equal(await shown.page.inputValue("#text"), "a/");
        await keyboard.press("Backspace");
        await shown.lists("mail", "rates");
        await tabTo(shown, /Closed rates/);
        await keyboard.press("Enter");
        await shown.sees("rates", "Declared at", ".details");
        await tabTo(shown, /^force_open$/);
        await keyboard.press("Enter");
        await shown.says("#ask-title", "Force open: rates?");
        // What acts doesn't have the focus, and Escape leaves.
        assert.equal(await shown.page.evaluate("document.activeElement.id"), "ask-cancel");
        await keyboard.press("Escape");
        assert.equal(await shown.page.locator("#ask").isVisible(), false);
        assert.equal(await shown.page.evaluate(FOCUSED), "force_open");
        assert.equal(await shown.page.inputValue("#text"), "a");
        await keyboard.press("Enter");
        await tabTo(shown, /^ask-do$/);
        await keyboard.press("Enter");
        await shown.sees("rates", "Forced open by ann");
        await shown.says("#news", /Forced? open|by an operator/);
        assert.equal(await shown.page.evaluate(FOCUSED), "force_open");
        await tabTo(shown, /^close$/, "Shift+Tab");
        await keyboard.press("Space");
        await tabTo(shown, /^ask-do$/);
        await keyboard.press("Space");
        await shown.sees("rates", "Closed by ann");
        await keyboard.press("Escape");
        await shown.lists("rates", "mail", "pms");
      },
      { user: "ann" },
    );
  });

  test("arrows go from row to row", async () => {
    await looking.at(service.url("/ops"), async (shown) => {
      await tabTo(shown, /^Closed rates/);
      await shown.page.keyboard.press("ArrowDown");
      assert.match(await shown.page.evaluate(FOCUSED), /^Closed mail/);
      await shown.page.keyboard.press("ArrowDown");
      await shown.page.keyboard.press("ArrowDown");
      assert.match(await shown.page.evaluate(FOCUSED), /^Closed pms/);
      await shown.page.keyboard.press("ArrowUp");
      assert.match(await shown.page.evaluate(FOCUSED), /^Closed mail/);
    });
  });

  test("the list is reached past everything before it", async () => {
    await looking.at(service.url("/ops"), async (shown) => {
      await shown.page.keyboard.press("Tab");
      assert.equal(await shown.page.evaluate(FOCUSED), "Skip to the circuits");
      assert.equal(await shown.page.evaluate(UNCOVERED), true);
      await shown.page.keyboard.press("Enter");
      await shown.page.keyboard.press("Tab");
      assert.match(await shown.page.evaluate(FOCUSED), /^Closed rates/);
    });
  });

  test("each control is reached, in its order, seen and not covered", async () => {
    await service.tell({ keys: ["hosts", 5] });
    await looking.at(service.url("/ops"), async (shown) => {
      await shown.open("pms");
      await shown.row("hosts").getByRole("button").click();
      await shown.lists(
        "rates",
        "hosts",
        "key-0",
        "key-1",
        "key-2",
        "key-3",
        "key-4",
        "mail",
        "pms",
      );
      const wanted = await shown.page.evaluate<string[]>(`(() => {
        const stops = [...document.querySelectorAll("a, button, input, select, [tabindex='0']")]
          .filter((element) => element.checkVisibility() && !element.disabled && !element.matches(".skip"));
        return stops.map((element, place) => (element.dataset.stop = String(place)));
      })()`);
      await shown.page.evaluate("document.activeElement.blur(), scrollTo(0, 0)");
      await shown.page.click("h1");
      const reached: string[] = [];
      for (const _ of wanted) {
        await shown.page.keyboard.press("Tab");
        const stop = await shown.page.evaluate<string>(FOCUSED);
        assert.equal(await shown.page.evaluate(OUTLINED), true, `${stop} has no outline`);
        assert.equal(await shown.page.evaluate(UNCOVERED), true, `${stop} is covered`);
        reached.push(await shown.page.evaluate("document.activeElement.dataset.stop"));
      }
      assert.deepEqual(reached, wanted);
      assert.ok(wanted.length > 20, `${wanted.length} stops`);
    });
  });
});
