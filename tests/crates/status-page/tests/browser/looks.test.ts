// Whether it can be read and touched: light and dark, wide and narrow, in each state.

import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { AXE, Looking, Service, type Shown } from "./service.ts";

/** Where pictures of the page go, if somebody wants to look at them. */
const PICTURES = process.env["PICTURES"];

const PHONE = { width: 360, height: 740 };
const DESK = { width: 1280, height: 900 };

const LONG = "a_rather_long_name::of_some_module::and_then_a_type::Client::availability_of_rooms";

/** What is to be touched and smaller than 24 by 24 pixels. */
const SMALL = `[...document.querySelectorAll("a, button, input, select")]
  .filter((element) => element.checkVisibility() && !element.matches(".skip"))
  .map((element) => [element.outerHTML.slice(0, 80), element.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < 24 || height < 24)
  .map(([html, { width, height }]) => html + ": " + width + " x " + height)`;

/** What sticks out of the list, which would cut it off. */
const CUT = `(() => {
  const edge = document.querySelector("#list").getBoundingClientRect().right + 0.5;
  return [...document.querySelectorAll("#list *")]
    .filter((element) => element.checkVisibility() && element.getBoundingClientRect().right > edge)
    .map((element) => element.outerHTML.slice(0, 80));
})()`;

/** A service with a circuit in each state. */
async function inEachState(service: Service): Promise<void> {
  for (const name of ["pms", "rates", "mail", "search", LONG, "geo"]) {
    await service.tell({ make: name });
  }
  await service.tell({ keys: ["hotels", 30] }, { fail: [["hotels", "key-7"], 3] });
  await service.tell({ fail: ["rates", 3] }, { pass: 30_000 }, { fail: ["rates", 1] });
  await service.tell({ pass: 5_000 }, { fail: ["pms", 5] }, { force_open: "mail" });
  await service.tell({ fail: [LONG, 4] });
}

async function operate(service: Service, name: string, action: string): Promise<void> {
  const response = await fetch(service.url("/ops"), { headers: { accept: "application/json" } });
  const { process, circuits } = (await response.json()) as {
    process: string;
    circuits: { id: string; breaker: string; generation: number }[];
  };
  const found = circuits.find(({ breaker }) => breaker === name);
  assert.ok(found);
  const done = await fetch(service.url("/ops/actions"), {
    method: "POST",
    headers: {
      cookie: "user=ann",
      "content-type": "application/json",
      "x-breakerbox-action": "1",
    },
    body: JSON.stringify({ action, circuit: found.id, process, generation: found.generation }),
  });
  assert.equal(done.status, 200, await done.text());
}

describe("how it looks", () => {
  let looking: Looking;
  let service: Service;
  let axe: string;
  before(async () => {
    axe = await readFile(AXE, "utf8");
    looking = await Looking.start();
    service = await Service.start();
    await inEachState(service);
    await operate(service, "search", "shadow");
    await operate(service, "geo", "disable");
    if (PICTURES) await mkdir(PICTURES, { recursive: true });
  });
  after(async () => {
    await looking.stop();
    await service.stop();
  });

  /** The page, in each way that it looks different. */
  const WAYS: Record<string, (shown: Shown) => Promise<void>> = {
    list: async (shown) => {
      await shown.sees("pms", "Opened after 3 failures");
      await shown.sees("geo", "Disabled by ann");
    },
    opened: async (shown) => {
      await shown.open("rates");
      await shown.sees("rates", "Reopened after 1 failure while probing, for 30s", ".entries");
      await shown.row("rates").locator(".lanes").waitFor();
    },
    asked: async (shown) => {
      await shown.row("rates").locator("[data-act=open_for]").click();
      await shown.says("#ask-title", "Open for: rates?");
    },
    "asked, and refused": async (shown) => {
      await shown.page.click("#ask-do");
      await shown.says("#ask-answer", "Nothing was done: log in first.");
    },
    whole: async (shown) => {
      await shown.page.click("#ask-cancel");
      await shown.row("rates").locator("button.row").click();
      await shown.row("hotels").getByRole("button").click();
      await shown.sees("key-29", "Closed");
    },
    "nothing found": async (shown) => {
      await shown.search("no such circuit");
      await shown.says("#none", "No circuit is found.");
    },
    lost: async (shown) => {
      await shown.search("");
      await shown.page.route(/since=/, (route) => route.abort());
      await shown.says("#feed", "Connection lost");
      await shown.says("#age", "old");
    },
  };

  for (const colorScheme of ["light", "dark"] as const) {
    for (const [name, viewport] of [
      ["phone", PHONE],
      ["desk", DESK],
    ] as const) {
      test(`${colorScheme}, on a ${name}: nothing that axe finds, nothing cut off`, () =>
        looking.at(
          service.url("/ops"),
          async (shown) => {
            await shown.page.evaluate(axe);
            for (const [way, enter] of Object.entries(WAYS)) {
              await enter(shown);
              if (PICTURES) {
                const path = `${PICTURES}/${colorScheme}-${name}-${way.replaceAll(/\W+/g, "-")}.png`;
                await shown.page.screenshot({ path });
              }
              assert.deepEqual(await shown.faults(), [], way);
              assert.ok((await shown.width()) <= viewport.width, way);
              assert.deepEqual(await shown.page.evaluate(CUT), [], way);
            }
          },
          { colorScheme, viewport, expected: /ERR_FAILED|403/ },
        ));
    }
  }

  for (const width of [320, 360, 768, 1060, 1061]) {
    test(`${width} pixels are enough, and everything is large enough to be touched`, () =>
      looking.at(
        service.url("/ops"),
        async (shown) => {
          await shown.open("rates");
          await shown.open(LONG);
          await shown.row("rates").locator(".lanes").waitFor();
          assert.ok((await shown.width()) <= width, `${await shown.width()} wide`);
          assert.deepEqual(await shown.page.evaluate(SMALL), []);
          assert.deepEqual(await shown.page.evaluate(CUT), []);
        },
        { viewport: { width, height: 740 }, hasTouch: true, isMobile: width < 700 },
      ));
  }

  test("states differ in their shape and word, not in their colour alone", () =>
    looking.at(service.url("/ops"), async (shown) => {
      await shown.row("hotels").getByRole("button").click();
      await shown.sees("key-29", "Closed");
      const badges = await shown.page.evaluate<[string, string][]>(
        `[...document.querySelectorAll(".circuit .badge")].map((badge) =>
          [badge.textContent, badge.querySelector("path").getAttribute("d")])`,
      );
      const shapes = new Map(badges);
      assert.equal(shapes.size, 5);
      assert.equal(new Set(shapes.values()).size, 5);
    }));

  test("nothing moves for who wants no motion", () =>
    looking.at(
      service.url("/ops"),
      async (shown) => {
        const moving = await shown.page.evaluate<string[]>(
          `[...document.querySelectorAll("*")].filter((element) => {
            const { transitionDuration, animationName } = getComputedStyle(element);
            return transitionDuration.split(", ").some((time) => time !== "0s") || animationName !== "none";
          }).map((element) => element.outerHTML.slice(0, 80))`,
        );
        assert.deepEqual(moving, []);
      },
      { reducedMotion: "reduce" },
    ));
});
