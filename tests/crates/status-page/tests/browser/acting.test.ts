// What operators do on the page, and what others can't.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Looking, Service } from "./service.ts";

describe("acting", () => {
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

  test("where there is no guard there is nothing to act with", async () => {
    await service.tell({ make: "shown" });
    await looking.at(
      service.url("/circuits"),
      async (shown) => {
        await shown.open("shown");
        assert.equal(await shown.page.locator("[data-act]").count(), 0);
      },
      { user: "ann" },
    );
    await service.tell({ drop: "shown" });
  });

  test("each action, with who did it", async () => {
    await service.tell({ make: "pms" });
    await looking.at(
      service.url("/ops"),
      async (shown) => {
        await shown.open("pms");
        for (const [action, says] of [
          ["force_open", "Forced open by ann"],
          ["close", "Closed by ann"],
          ["open_for", "Opened by ann, for 3600s"],
          ["disable", "Disabled by ann"],
          ["shadow", "Shadow by ann"],
          ["clear", "Closed by ann"],
        ] as const) {
          await shown.row("pms").locator(`[data-act=${action}]`).click();
          if (action === "open_for") await shown.page.selectOption("#ask-seconds", "3600");
          await shown.page.click("#ask-do");
          await shown.sees("pms", says);
          assert.equal(await shown.page.locator("#ask").isVisible(), false);
        }
        await shown.sees("pms", "Forced open by ann", ".entries li:last-child");
        assert.equal(await shown.row("pms").locator(".entries li").count(), 6);
      },
      { user: "ann" },
    );
    await service.tell({ drop: "pms" });
  });

  test("a key's circuit", async () => {
    await service.tell({ keys: ["hosts", 3] }, { fail: [["hosts", "key-1"], 3] });
    await looking.at(
      service.url("/ops"),
      async (shown) => {
        await shown.open("key-1");
        await shown.row("key-1").locator("[data-act=close]").click();
        await shown.says("#ask-title", "Close: hosts[key-1]?");
        await shown.page.click("#ask-do");
        await shown.sees("hosts", "3 keys: all closed");
        assert.equal((await service.circuit("hosts", "key-1")).state, "closed");
      },
      { user: "ann" },
    );
    await service.tell({ drop: "hosts" });
  });

  test("who may not is told so, and nothing is done", async () => {
    await service.tell({ make: "pms" });
    for (const [user, says] of [
      [undefined, "Nothing was done: log in first."],
      ["trainee", "Nothing was done: this isn't allowed to you."],
    ] as const) {
      await looking.at(
        service.url("/ops"),
        async (shown) => {
          await shown.open("pms");
          await shown.row("pms").locator("[data-act=force_open]").click();
          await shown.page.click("#ask-do");
          await shown.says("#ask-answer", says);
          assert.equal(await shown.page.locator("#ask-do").isVisible(), false);
          await shown.page.click("#ask-cancel");
          await shown.sees("pms", "Closed");
          assert.equal((await service.circuit("pms")).state, "closed");
        },
        { ...(user && { user }), expected: /403/ },
      );
    }
    await service.tell({ drop: "pms" });
  });

  test("what changed since it was seen is not acted on before it was seen", async () => {
    await service.tell({ make: "pms" });
    await looking.at(
      service.url("/ops"),
      async (shown) => {
        await shown.open("pms");
        await shown.row("pms").locator("[data-act=force_open]").click();
        await service.tell({ fail: ["pms", 3] });
        await shown.page.click("#ask-do");
        await shown.says(
          "#ask-answer",
          "Nothing was done: it was closed when you looked, and is open now (opened after 3 failures, for 30s).",
        );
        assert.equal((await service.circuit("pms")).state, "open");
        await shown.says("#ask-do", "Force open all the same");
        await shown.page.click("#ask-do");
        await shown.sees("pms", "Forced open by ann");
        assert.equal((await service.circuit("pms")).state, "forced_open");
      },
      { user: "ann", expected: /409/ },
    );
    await service.tell({ drop: "pms" });
  });

  test("a circuit that is gone, a service that started again, a server that is away", async () => {
    const other = await Service.start();
    await other.tell({ make: "pms" });
    await looking.at(
      other.url("/ops"),
      async (shown) => {
        await shown.open("pms");
        const forceOpen = shown.row("pms").locator("[data-act=force_open]");
        await forceOpen.click();
        await other.tell({ drop: "pms" });
        await shown.page.click("#ask-do");
        await shown.says("#ask-answer", /^Nothing was done: the circuit is gone/);
        await shown.page.click("#ask-cancel");
        await other.tell({ make: "pms" });
        await shown.sees("pms", "Closed");
        await forceOpen.click();
        const { port } = other;
        await other.stop();
        await shown.page.click("#ask-do");
        await shown.says("#ask-answer", "The server can't be reached.");
        const again = await Service.start(port);
        await again.tell({ make: "pms" });
        await shown.page.click("#ask-do");
        await shown.says("#ask-answer", /^Nothing was done: the service has started again/);
        assert.equal((await again.circuit("pms")).state, "closed");
        await again.stop();
      },
      { user: "ann", expected: /404|409|ERR_|Failed to load/ },
    );
  });

  test("pages of other sites change nothing, whatever they try", async () => {
    await service.tell({ make: "victim" });
    const { id } = await service.circuit("victim");
    const response = await fetch(service.url("/ops"), { headers: { accept: "application/json" } });
    const { process } = (await response.json()) as { process: string };
    // Another server on this machine: the same site to a browser, which sends cookies along. And by
    // its other name: another site.
    const attacker = await Service.start();
    for (const host of ["127.0.0.1", "localhost"]) {
      const context = await looking.browser.newContext();
      await context.addCookies([{ name: "user", value: "ann", url: service.url("/") }]);
      const page = await context.newPage();
      await page.goto(`http://${host}:${attacker.port}/elsewhere`);
      for (const path of ["/ops", "/cors"]) {
        const order = { action: "force_open", circuit: id, process, generation: 0 };
        const tried = await page.evaluate(
          async ([target, body]) => {
            const outcomes: string[] = [];
            const json = { "content-type": "application/json", "x-breakerbox-action": "1" };
            const ways: RequestInit[] = [
              { headers: json, credentials: "include" },
              { headers: json, mode: "no-cors", credentials: "include" },
              { headers: { "content-type": "application/json" }, credentials: "include" },
              { headers: { "content-type": "text/plain" }, credentials: "include" },
              {
                headers: { "content-type": "text/plain" },
                mode: "no-cors",
                credentials: "include",
              },
              { headers: { "x-http-method-override": "POST" }, method: "GET" },
            ];
            for (const way of ways) {
              const init: RequestInit = { method: "POST", ...way };
              if (init.method === "POST") init.body = body;
              outcomes.push(
                await fetch(target, init).then(
                  ({ status, type }) => `${type} ${status}`,
                  () => "refused by the browser",
                ),
              );
            }
            outcomes.push(navigator.sendBeacon(target, body) ? "beacon sent" : "no beacon");
            const blob = new Blob([body], { type: "application/json" });
            try {
              navigator.sendBeacon(target, blob);
            } catch {
              outcomes.push("no beacon of JSON");
            }
            // The classic: a field whose name and value together are JSON.
            const form = document.createElement("form");
            form.method = "POST";
            form.action = target;
            form.enctype = "text/plain";
            const field = document.createElement("input");
            field.name = body.slice(0, -1) + ',"x":"';
            field.value = '"}';
            form.append(field);
            const frame = document.createElement("iframe");
            frame.name = "frame";
            form.target = "frame";
            document.body.append(frame, form);
            const loaded = new Promise((resolve) => (frame.onload = resolve));
            form.submit();
            await Promise.race([loaded, new Promise((resolve) => setTimeout(resolve, 5000))]);
            return outcomes;
          },
          [service.url(`${path}/actions`), JSON.stringify(order)] as const,
        );
        assert.ok(
          tried.every((outcome) => !/ 200$/.test(outcome)),
          tried.join(", "),
        );
        // Where anybody's scripts may ask, they were asked for their origin.
        if (path === "/cors") assert.equal(tried[0], "cors 403");
        else assert.equal(tried[0], "refused by the browser");
        const after = await service.circuit("victim");
        assert.equal(after.state, "closed", `${host} ${path}`);
      }
      await context.close();
    }
    // What they tried is what the page does.
    await looking.at(
      service.url("/cors"),
      async (shown) => {
        await shown.open("victim");
        await shown.row("victim").locator("[data-act=force_open]").click();
        await shown.page.click("#ask-do");
        await shown.sees("victim", "Forced open by ann");
      },
      { user: "ann" },
    );
    await attacker.stop();
    await service.tell({ drop: "victim" });
  });

  test("under a name that isn't its own the page shows, and doesn't act", async () => {
    // As after DNS rebinding: the name is the attacker's, the server is this one.
    const { chromium } = await import("playwright-core");
    const browser = await chromium.launch({
      executablePath: globalThis.process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
    });
    try {
      await service.tell({ make: "pms" });
      const page = await browser.newPage();
      await page
        .context()
        .addCookies([{ name: "user", value: "ann", domain: "evil.example", path: "/" }]);
      await page.goto(`http://evil.example:${service.port}/ops`);
      await page.locator(".circuit button.row").click();
      await page.locator("[data-act=force_open]").click();
      await page.locator("#ask-do").click();
      await page
        .locator("#ask-answer")
        .filter({ hasText: "the page is open under a name that it doesn't know" })
        .waitFor();
      assert.equal((await service.circuit("pms")).state, "closed");
      await service.tell({ drop: "pms" });
    } finally {
      await browser.close();
    }
  });
});
