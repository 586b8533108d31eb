// Names and keys are somebody else's text: it is shown, and nothing more.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Looking, Service } from "./service.ts";

const NAMES = [
  "<img src=x onerror=globalThis.hacked=1>",
  "</title><script>globalThis.hacked=1</script>",
  "\"'><svg onload=globalThis.hacked=1>",
  "{{constructor.constructor('globalThis.hacked=1')()}}",
  "{base}{title}",
  "javascript:globalThis.hacked=1",
  "&lt;b&gt;&amp;",
  "__proto__",
  "constructor",
  "\u202egnp.exe",
  "tab\tand\nline",
  "nul\u0000",
  " ",
  "\u200b",
  "💥".repeat(40),
  "a".repeat(2000),
];

/** What isn't seen is shown as logs have it: else one could pass for another. */
const SHOWN = NAMES.map((name) => {
  const escaped = new Map([
    ["\u202egnp.exe", "\\u{202e}gnp.exe"],
    ["tab\tand\nline", "tab\\tand\\nline"],
    ["nul\u0000", "nul\\u{0}"],
    ["\u200b", "\\u{200b}"],
  ]);
  return escaped.get(name) ?? name;
});

const KEYS = [...NAMES, "", "[", "]", "a]b[c"];

describe("hostile text", () => {
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

  test("names are text, wherever they stand", async () => {
    for (const name of NAMES) await service.tell({ make: name }, { fail: [name, 3] });
    await looking.at(
      service.url("/ops"),
      async (shown) => {
        await shown.says("#found", `${NAMES.length} circuits`);
        const names = await shown.page
          .locator(".list .name")
          .evaluateAll((names) => names.map((name) => name.textContent));
        assert.deepEqual([...names].sort(), [...SHOWN].sort());
        assert.equal(await shown.page.locator('.name[data-empty="true"]').count(), 1);
        assert.equal(await shown.page.locator("main img, main script, main b b").count(), 0);
        const rows = shown.page.locator(".list > li");
        for (let place = 0; place < NAMES.length; place++) {
          await rows.nth(place).locator("button.row").click();
          await rows.nth(place).locator(".entries li").waitFor();
        }
        await rows.first().locator("[data-act=force_open]").click();
        await shown.page.click("#ask-do");
        await shown.says('.chip[data-state="forced_open"]', "1 Forced open");
        await shown.search("<IMG");
        assert.deepEqual(await shown.names(), [NAMES[0]]);
        assert.ok((await shown.width()) <= 1280);
      },
      { user: "<img src=x onerror=globalThis.hacked=1>" },
    );
    for (const name of NAMES) await service.tell({ drop: name });
  });

  test("so are keys", async () => {
    for (const key of KEYS) await service.tell({ fail: [["<i>keys</i>", key], 3] });
    await looking.at(
      service.url("/ops"),
      async (shown) => {
        await shown.sees("<i>keys</i>", `${KEYS.length} keys: ${KEYS.length} open`);
        await shown.row("<i>keys</i>").getByRole("button").click();
        const rows = shown.page.locator(".list > li.circuit");
        assert.equal(await rows.count(), KEYS.length);
        // By name, so that none goes elsewhere when it is closed.
        await shown.page.selectOption("#sort", "name");
        for (let place = 0; place < KEYS.length; place++) {
          await rows.nth(place).locator("button.row").click();
          await rows.nth(place).locator(".entries li").waitFor();
          await rows.nth(place).locator("[data-act=close]").click();
          await shown.page.click("#ask-do");
          await shown.says('.chip[data-state="closed"]', `${place + 1} Closed`);
        }
      },
      { user: "ann" },
    );
    await service.tell({ drop: "<i>keys</i>" });
  });

  test("the title is text too", () =>
    looking.at(service.url("/circuits"), async (shown) => {
      assert.equal(await shown.page.innerText("h1"), "booking <only shows>");
      assert.equal(await shown.page.title(), "booking <only shows>");
    }));
});
