// The service with its circuits, and a browser that looks at its page.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";

/** Names the server's program: `cargo xtask test` builds it. */
const PROGRAM = process.env["STATUS_PAGE"];

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Nothing here takes long; a busy machine may. */
export const PATIENCE = 30_000;

export const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

export type Which = string | [breaker: string, key: string];

export type Command =
  | { make: string }
  | { keys: [name: string, many: number] }
  | { succeed: Which }
  | { fail: [which: Which, times: number] }
  | { force_open: Which }
  | { shadow: string }
  | { drop: string }
  | { pass: number };

/** A running server. */
export class Service {
  private constructor(
    private readonly child: ChildProcess,
    readonly address: string,
  ) {}

  static async start(port = 0): Promise<Service> {
    if (PROGRAM === undefined) {
      throw new Error("`STATUS_PAGE` is not set: run these tests by `cargo xtask test`");
    }
    const child = spawn(PROGRAM, [String(port)], { stdio: ["pipe", "pipe", "inherit"] });
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    return new Service(child, said.toString().trim());
  }

  get port(): number {
    return Number(this.address.split(":")[1]);
  }

  url(path: string): string {
    return `http://${this.address}${path}`;
  }

  async tell(...commands: Command[]): Promise<void> {
    const response = await fetch(this.url("/control"), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(commands),
    });
    assert.equal(response.status, 204, await response.text());
  }

  /** What the page's JSON says of a circuit. */
  async circuit(
    breaker: string,
    key: string | null = null,
  ): Promise<{ state: string; id: string }> {
    const response = await fetch(this.url("/circuits"), {
      headers: { accept: "application/json" },
    });
    const { circuits } = (await response.json()) as {
      circuits: { breaker: string; key: string | null; state: string; id: string }[];
    };
    const found = circuits.find((circuit) => circuit.breaker === breaker && circuit.key === key);
    assert.ok(found, `${breaker} is listed`);
    return found;
  }

  async stop(): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.stdin?.end();
    this.child.kill();
    await ended;
  }
}

export class Looking {
  private constructor(readonly browser: Browser) {}

  static async start(): Promise<Looking> {
    const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
    return new Looking(await chromium.launch({ executablePath, args: FLAGS }));
  }

  /** Opens an address for a test, which fails if the page complained or asked for anything from afar. */
  async at(
    url: string,
    test: (shown: Shown) => Promise<void>,
    options: BrowserContextOptions & { user?: string; expected?: RegExp } = {},
  ): Promise<void> {
    const { user, expected, ...others } = options;
    const context = await this.browser.newContext(others);
    context.setDefaultTimeout(PATIENCE);
    const { origin } = new URL(url);
    if (user !== undefined) await context.addCookies([{ name: "user", value: user, url: origin }]);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (said) => {
      if (["error", "warning"].includes(said.type())) complaints.push(said.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== origin) complaints.push(`asked for ${request.url()}`);
    });
    try {
      await page.addInitScript(() => {
        const violations: string[] = [];
        Object.assign(globalThis, { violations });
        document.addEventListener("securitypolicyviolation", ({ violatedDirective }) => {
          violations.push(violatedDirective);
        });
      });
      await page.goto(url);
      await page.waitForSelector('body[data-feed="live"]');
      await test(new Shown(page));
      assert.deepEqual(await page.evaluate("globalThis.violations"), []);
      assert.equal(await page.evaluate("globalThis.hacked"), undefined);
      assert.deepEqual(
        complaints.filter((complaint) => !expected?.test(complaint)),
        [],
      );
    } finally {
      await context.close();
    }
  }

  async stop(): Promise<void> {
    await this.browser.close();
  }
}

/** What somebody sees on the page, and does. */
export class Shown {
  constructor(readonly page: Page) {}

  /** The row of a circuit, by what it is called there. */
  row(name: string) {
    return this.page.locator(".list > li").filter({
      has: this.page.locator(".name").getByText(name, { exact: true }),
    });
  }

  /** Waits until a row says this. */
  async sees(name: string, text: string | RegExp, part = ".row"): Promise<void> {
    const found = this.row(name).locator(part).filter({ hasText: text });
    await found
      .waitFor()
      .catch(async () => assert.fail(`not ${text}: ${await this.page.innerText("#list")}`));
  }

  /** The names in the list, from the top. */
  names(): Promise<string[]> {
    return this.page.locator(".list .name").allInnerTexts();
  }

  /** Waits until the list has these names, from the top. */
  async lists(...names: string[]): Promise<void> {
    await this.page
      .waitForFunction(
        (names) => {
          const shown = [...document.querySelectorAll(".list .name")];
          return JSON.stringify(shown.map((name) => name.textContent)) === JSON.stringify(names);
        },
        names,
        { timeout: PATIENCE },
      )
      .catch(async () => assert.deepEqual(await this.names(), names));
  }

  async says(selector: string, text: string | RegExp): Promise<void> {
    await this.page
      .locator(selector)
      .filter({ hasText: text })
      .waitFor({ state: "attached" })
      .catch(async () =>
        assert.fail(`${selector} says ${await this.page.textContent(selector)}, not ${text}`),
      );
  }

  async search(text: string): Promise<void> {
    await this.page.fill("#text", text);
  }

  async open(name: string): Promise<void> {
    await this.row(name).locator("button.row").click();
    await this.row(name).locator(".details").waitFor();
  }

  /** What axe finds, as lines. */
  async faults(): Promise<string[]> {
    const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    return this.page.evaluate(
      `axe.run(document, { runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) =>
          nodes.map(({ html, failureSummary }) => id + ": " + html + ": " + failureSummary)))`,
    );
  }

  /** How wide the page is, in pixels. */
  width(): Promise<number> {
    return this.page.evaluate("document.documentElement.scrollWidth");
  }
}
