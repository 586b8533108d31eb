// The page in a browser, its time standing still until a test lets it pass.

import assert from "node:assert/strict";
import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { type Served, serve } from "../scripts/page.js";

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export class Pages {
  private constructor(
    readonly served: Served,
    readonly browser: Browser,
  ) {}

  static async start(): Promise<Pages> {
    const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
    const served = await serve();
    return new Pages(served, await chromium.launch({ executablePath, args: FLAGS }));
  }

  /** Opens the page for a test, which fails if the page complained or asked for anything from afar. */
  async use(
    test: (playground: Playground) => Promise<void>,
    options: BrowserContextOptions & { query?: string } = {},
  ): Promise<void> {
    const { query = "?paused", ...others } = options;
    const context = await this.browser.newContext(others);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (said) => {
      if (["error", "warning"].includes(said.type())) complaints.push(said.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== "data:" && `${origin}/` !== this.served.url) {
        complaints.push(`a request to ${request.url()}`);
      }
    });
    try {
      await page.goto(this.served.url + query);
      const playground = new Playground(page);
      await playground.ready();
      await test(playground);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.served.stop();
  }
}

/** What somebody does on the page, and sees. */
export class Playground {
  /** Seconds, as the page must show them. */
  #time = 0;

  constructor(readonly page: Page) {}

  async ready(): Promise<void> {
    await this.page.waitForFunction(() => document.querySelector("#clock")?.textContent);
  }

  /** Waits until the page shows this text. */
  async sees(selector: string, text: string | RegExp): Promise<void> {
    const wanted = typeof text === "string" ? { text } : { source: text.source };
    await this.page
      .waitForFunction(
        ([selector, { text, source }]) => {
          const shown = document.querySelector(selector)?.textContent?.trim() ?? "";
          return source === undefined ? shown === text : new RegExp(source).test(shown);
        },
        [selector, wanted as { text?: string; source?: string }] as const,
        { timeout: 10_000 },
      )
      .catch(async () =>
        assert.fail(`${selector} shows ${await this.text(selector)}, not ${text}`),
      );
  }

  async text(selector: string): Promise<string> {
    return (await this.page.textContent(selector))?.trim() ?? "";
  }

  /** A number that the page shows. */
  async number(selector: string): Promise<number> {
    return Number(await this.text(selector));
  }

  /** Lets so many seconds pass, by the button for it. */
  async pass(seconds: number): Promise<void> {
    for (let passed = 0; passed < seconds; passed++) {
      this.#time += 1;
      await this.page.click("#step");
      await this.sees("#clock", `${this.#time}.0 s`);
    }
  }

  async be(behaviour: string): Promise<void> {
    await this.page.check(`[name=behaviour][value=${behaviour}]`);
  }

  async set(option: string, value: string): Promise<void> {
    await this.page.fill(`#${option}`, value);
  }

  /** The state that every part of the page shows. */
  async is(state: string): Promise<void> {
    await this.sees("#now b", state);
    await this.sees("#headline b", `${state}.`);
    await this.sees('#diagram [data-now="true"] .name', state);
    assert.equal(await this.page.locator('#diagram [data-now="true"]').count(), 1);
  }

  count(fate: string): Promise<number> {
    return this.number(`[data-count=${fate}]`);
  }

  cost(row: string, side: "with" | "without"): Promise<string> {
    return this.text(`[data-cost=${row}-${side}] span`);
  }
}
