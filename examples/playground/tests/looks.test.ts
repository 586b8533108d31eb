// Whether it can be read and touched: light and dark, wide and narrow, in each state.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import type { AxeResults } from "axe-core";
import { type Playground, Pages } from "./page.js";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

/** The page in each state that it looks different in. */
const STATES: Record<string, (playground: Playground) => Promise<void>> = {
  closed: async (playground) => {
    await playground.pass(2);
    await playground.is("Closed");
  },
  open: async (playground) => {
    await playground.be("failing");
    await playground.pass(3);
    await playground.is("Open");
  },
  "half-open": async (playground) => {
    await playground.page.uncheck("#timesOut");
    await playground.set("jitter", "0");
    await playground.set("reset", "1");
    await playground.be("slow");
    await playground.page.click("[data-operate=openFor]");
    await playground.pass(11);
    await playground.is("Half-open");
  },
  "forced open": async (playground) => {
    await playground.page.click("[data-operate=forceOpen]");
    await playground.is("Forced open");
  },
  disabled: async (playground) => {
    await playground.page.click("[data-operate=disable]");
    await playground.is("Disabled");
  },
  shadow: async (playground) => {
    await playground.page.click("[data-operate=shadow]");
    await playground.is("Shadow");
  },
  "all options, one wrong": async (playground) => {
    await playground.page.check("[name=policy][value=rate]");
    await playground.page.check("#slowCounts");
    await playground.set("minCalls", "30");
    await playground.sees("#minCalls-error", /minCalls is above window/);
  },
};

/** What axe can't see: words in pictures. Gives those with too little contrast. */
const IN_PICTURES = `(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (colour) => {
    const [r, g, b] = numbers(colour).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const card = getComputedStyle(document.querySelector(".card")).backgroundColor;
  const style = getComputedStyle(document.documentElement);
  const probe = document.body.appendChild(document.createElement("i"));
  const computed = (colour) => {
    probe.style.color = colour;
    return getComputedStyle(probe).color;
  };
  const looked = [];
  for (const text of document.querySelectorAll("svg.diagram text")) {
    const box = text.closest(".state")?.querySelector(".box");
    const under = box && getComputedStyle(box).fill;
    const behind = under && under !== "none" ? under : card;
    looked.push([text.textContent, contrast(getComputedStyle(text).fill, behind)]);
  }
  // The timeline writes the state's name on a tint of its colour.
  for (const state of ["closed", "open", "half_open", "forced_open", "disabled", "shadow"]) {
    const tint = numbers(computed(style.getPropertyValue("--" + state)));
    const mixed = numbers(card).map((part, place) => 0.84 * part + 0.16 * tint[place]);
    looked.push(["band of " + state, contrast(computed(style.getPropertyValue("--text")), "rgb(" + mixed + ")")]);
  }
  probe.remove();
  return looked;
})()`;

/** What is to be touched and smaller than 24 by 24 pixels, or nearer to another than that. */
const SMALL = `[...document.querySelectorAll("button, input, label:has(input)")]
  .filter((element) => element.checkVisibility())
  .map((element) => element.closest("label") ?? element)
  .map((element) => [element.outerHTML.slice(0, 80), element.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < 24 || height < 24)
  .map(([html, { width, height }]) => html + ": " + width + " x " + height)`;

describe("how it looks", () => {
  let pages: Pages;
  before(async () => {
    pages = await Pages.start();
  });
  after(() => pages.stop());

  for (const colorScheme of ["light", "dark"] as const) {
    for (const [name, viewport] of [
      ["phone", PHONE],
      ["desk", DESK],
    ] as const) {
      test(`${colorScheme}, on a ${name}: nothing that axe finds, and words in pictures can be read`, () =>
        pages.use(
          async (playground) => {
            await playground.page.addScriptTag({ path: AXE });
            for (const [state, enter] of Object.entries(STATES)) {
              await enter(playground);
              const { violations, passes } = await playground.page.evaluate<AxeResults>(
                `axe.run(document, { runOnly: ${JSON.stringify(RULES)} })`,
              );
              const found = violations.flatMap(({ id, nodes }) =>
                nodes.map(({ html, failureSummary }) => `${id}: ${html}: ${failureSummary}`),
              );
              assert.deepEqual(found, [], state);
              assert.ok(
                passes.some(({ id }) => id === "color-contrast"),
                "contrast was looked at",
              );
              const looked = await playground.page.evaluate<[string, number][]>(IN_PICTURES);
              assert.ok(looked.length > 15);
              for (const [text, contrast] of looked) {
                assert.ok(contrast >= 4.5, `${state}: ${text} has ${contrast.toFixed(2)}`);
              }
              await playground.page.click("[data-operate=close]");
            }
          },
          { colorScheme, viewport },
        ));
    }
  }

  for (const width of [320, 360, 768, 1024]) {
    test(`${width} pixels are enough, and everything is large enough to be touched`, () =>
      pages.use(
        async (playground) => {
          for (const [state, enter] of Object.entries(STATES)) {
            await enter(playground);
            const wide = await playground.page.evaluate("document.documentElement.scrollWidth");
            assert.ok((wide as number) <= width, `${state}: ${wide} wide`);
            assert.deepEqual(await playground.page.evaluate(SMALL), [], state);
            await playground.page.click("[data-operate=close]");
          }
        },
        { viewport: { width, height: 740 }, hasTouch: true, isMobile: width < 700 },
      ));
  }

  test("the timeline draws each call in the row of its fate", () =>
    pages.use(
      async (playground) => {
        await playground.set("jitter", "0");
        await playground.be("failing");
        await playground.pass(4);
        const rows = await playground.page.evaluate<boolean[]>(`(() => {
          const canvas = document.querySelector("#timeline canvas");
          const style = getComputedStyle(canvas);
          const paint = canvas.getContext("2d");
          const names = ["answered", "ignored", "failed", "timedOut", "refused", "probe", "stale"];
          const { data, width } = paint.getImageData(0, 0, canvas.width, canvas.height);
          return names.map((name, row) => {
            const wanted = style.getPropertyValue("--" + name).trim();
            const rgb = [1, 3, 5].map((at) => parseInt(wanted.slice(at, at + 2), 16));
            const from = Math.round((26 * (row + 1) + 5) * devicePixelRatio) * width * 4;
            const to = from + Math.round(16 * devicePixelRatio) * width * 4;
            for (let at = from; at < to; at += 4) {
              if (data[at + 3] === 255 && rgb.every((part, place) => Math.abs(data[at + place] - part) < 8)) return true;
            }
            return false;
          });
        })()`);
        assert.deepEqual(rows, [false, false, true, false, true, false, false]);
      },
      { viewport: DESK },
    ));
});
