// The page follows what circuits do, and says so when it can't.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Looking, PATIENCE, Service } from "./service.ts";

describe("following", () => {
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

  test("a circuit trips, probes, reopens and closes before one's eyes", async () => {
    await service.tell({ make: "pms" }, { make: "rates" });
    await looking.at(service.url("/circuits"), async (shown) => {
      await shown.sees("pms", "Closed");
      await service.tell({ fail: ["pms", 2] });
      await shown.sees("pms", "2 failures in a row");
      await service.tell({ fail: ["pms", 1] });
      await shown.sees("pms", "Open");
      await shown.sees("pms", "Opened after 3 failures, for 30s");
      await shown.says("#news", "pms: opened after 3 failures, for 30s.");
      await shown.lists("pms", "rates");
      assert.match(await shown.page.title(), /^\(1 open\) booking/);
      await shown.open("pms");
      await shown.sees("pms", "Open Opened after 3 failures, for 30s", ".entries");
      await service.tell({ pass: 30_000 });
      await shown.sees("pms", "probe is due");
      await service.tell({ fail: ["pms", 1] });
      await shown.sees("pms", "Reopened after 1 failure while probing, for 30s");
      await shown.sees("pms", "Reopened 1 time since it was closed.", ".facts");
      await service.tell({ pass: 30_000 }, { succeed: "pms" });
      await shown.sees("pms", "Closed: its probes succeeded");
      const past = shown.row("pms").locator(".entries b");
      await shown.sees("pms", "Closed", ".entries li:first-child");
      const states = ["Closed", "Half-open", "Open", "Half-open", "Open"];
      assert.deepEqual(await past.allInnerTexts(), states);
      const lanes = shown.row("pms").locator(".lanes");
      assert.match(
        (await lanes.getAttribute("aria-label")) ?? "",
        /^6 states since .*, listed below$/,
      );
      await service.tell({ drop: "pms" });
      await shown.lists("rates");
    });
    await service.tell({ drop: "rates" });
  });

  test("a circuit in shadow says what it would have done", async () => {
    await service.tell({ make: "watched" }, { shadow: "watched" });
    await looking.at(service.url("/circuits"), async (shown) => {
      await shown.sees("watched", "Shadow by an operator");
      await service.tell({ fail: ["watched", 5] });
      await shown.sees("watched", "Would have opened after 3 failures, for 30s");
      await shown.open("watched");
      await shown.sees(
        "watched",
        /It would have opened after 3 failures: at \d\d:\d\d:\d\d\./,
        ".facts",
      );
    });
    await service.tell({ drop: "watched" });
  });

  test("breakers and keys come and go", async () => {
    await looking.at(service.url("/circuits"), async (shown) => {
      await shown.says("#none", "There is no circuit yet");
      await service.tell({ make: "one" }, { keys: ["hosts", 2] });
      await shown.lists("hosts", "one");
      await shown.sees("hosts", "2 keys: all closed");
      await service.tell({ fail: [["hosts", "key-1"], 3] });
      await shown.lists("hosts", "key-1", "one");
      await shown.sees("hosts", "2 keys: 1 open, 1 closed");
      await service.tell({ drop: "hosts" }, { drop: "one" });
      await shown.lists();
      await shown.says("#none", "There is no circuit yet");
    });
  });

  test("a lost connection is said, with the age of what is seen; a server that starts again is found", async () => {
    let other = await Service.start();
    const { port } = other;
    await other.tell({ make: "before" }, { fail: ["before", 3] });
    await looking.at(
      other.url("/circuits"),
      async (shown) => {
        await shown.search("e");
        await shown.open("before");
        await other.stop();
        await shown.says("#feed", "Connection lost");
        await shown.says("#age", /^· what you see is \d+ s old$/);
        await shown.says("#lost", "The server can't be reached. Trying again.");
        await shown.sees("before", "Open");
        other = await Service.start(port);
        await other.tell({ make: "before" }, { make: "after" }, { make: "hidden" });
        await shown.says("#feed", "Live");
        await shown.lists("after", "before", "hidden");
        await shown.sees("before", "Closed");
        assert.equal(await shown.page.locator("#lost").isVisible(), false);
        // What was looked at still is.
        assert.equal(await shown.page.inputValue("#text"), "e");
        await shown.row("before").locator(".details").waitFor();
        await other.tell({ fail: ["after", 3] });
        await shown.sees("after", "Open");
      },
      { expected: /ERR_|Failed to load/ },
    );
    await other.stop();
  });

  test("the past that is shown is that of the service that runs", async () => {
    let other = await Service.start();
    const { port } = other;
    await other.tell({ make: "again" }, { fail: ["again", 3] });
    await looking.at(
      other.url("/circuits"),
      async (shown) => {
        await shown.open("again");
        await shown.sees("again", "Opened after 3 failures", ".entries");
        await other.stop();
        await shown.says("#feed", "Connection lost");
        // The same number, and as many changes.
        other = await Service.start(port);
        await other.tell({ make: "again" }, { force_open: "again" });
        await shown.sees("again", "Forced open");
        await shown.sees("again", "Forced open by an operator", ".entries");
        assert.equal(await shown.row("again").locator(".entries li").count(), 1);
      },
      { expected: /ERR_|Failed to load/ },
    );
    await other.stop();
  });

  test("a server's clock that is set back is followed", async () => {
    await service.tell({ make: "back" }, { fail: ["back", 3] });
    await looking.at(service.url("/circuits"), async (shown) => {
      const HOUR = 3_600_000;
      let back = 0;
      await shown.page.route(/\/circuits(\?|$)/, async (route) => {
        const response = await route.fetch();
        const said = (await response.json()) as { now: number };
        await route.fulfill({ response, json: { ...said, now: said.now - back } });
      });
      await shown.open("back");
      await shown.row("back").locator(".lanes .tick").last().waitFor();
      back = 2 * HOUR;
      await shown.page.waitForFunction(
        (back) => {
          const end = [...document.querySelectorAll(".lanes .tick")].at(-1)?.textContent;
          const hour = String(new Date(Date.now() - back).getHours()).padStart(2, "0");
          return end?.startsWith(`${hour}:`);
        },
        back,
        { timeout: PATIENCE },
      );
    });
    await service.tell({ drop: "back" });
  });

  test("a page that nobody sees asks seldom, and at once when it is seen again", async () => {
    await service.tell({ make: "unseen" });
    await looking.at(service.url("/circuits"), async (shown) => {
      await shown.sees("unseen", "Closed");
      await shown.page.evaluate(`(() => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => globalThis.away ?? false });
        globalThis.asked = 0;
        const real = fetch;
        globalThis.fetch = (...what) => { globalThis.asked += 1; return real(...what); };
        globalThis.away = true;
      })()`);
      await service.tell({ fail: ["unseen", 3] });
      await shown.page.evaluate(`(() => {
        globalThis.away = false;
        document.dispatchEvent(new Event("visibilitychange"));
      })()`);
      await shown.sees("unseen", "Open");
    });
    await service.tell({ drop: "unseen" });
  });

  test("what is answered by somebody else is not taken for circuits", async () => {
    await service.tell({ make: "login" });
    await looking.at(
      service.url("/circuits"),
      async (shown) => {
        await shown.sees("login", "Closed");
        const address = /\/circuits\?since=/;
        await shown.page.route(address, (route) => route.fulfill({ status: 503, body: "" }));
        await shown.says("#lost", "The server answers 503. Trying again.");
        await shown.page.unroute(address);
        await shown.says("#feed", "Live");
        const page = { contentType: "text/html", body: "<form>Log in" };
        await shown.page.route(address, (route) => route.fulfill(page));
        await shown.says("#lost", "Another page answers: perhaps you have to log in again.");
        await shown.page.unroute(address);
        await shown.says("#feed", "Live");
        const newer = { contentType: "application/json", body: '{"format":2}' };
        await shown.page.route(address, (route) => route.fulfill(newer));
        await shown.says("#lost", "The service is newer than this page.");
      },
      { expected: /503/ },
    );
    await service.tell({ drop: "login" });
  });

  for (const path of ["/circuits", "/ops", "/a/x%20y/circuits/", "/service", "/service/"]) {
    test(`it works at ${path}`, async () => {
      await service.tell({ make: "anywhere" });
      await looking.at(
        service.url(path),
        async (shown) => {
          await shown.sees("anywhere", "Closed");
          await shown.open("anywhere");
          await shown.sees(
            "anywhere",
            "Nothing has changed since this page began to listen.",
            ".details",
          );
        },
        { user: "ann" },
      );
      await service.tell({ drop: "anywhere" });
    });
  }
});
