// Ten thousand keys stay usable.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Looking, Service, type Shown } from "./service.ts";

const MANY = 10_000;

describe("ten thousand circuits", () => {
  let looking: Looking;
  let service: Service;
  before(async () => {
    looking = await Looking.start();
    service = await Service.start();
    await service.tell({ keys: ["hotels", MANY] }, { make: "pms" }, { make: "rates" });
    await service.tell({ keys: ["regions", 3] });
    await service.tell({ fail: [["hotels", "key-7123"], 3] }, { fail: [["hotels", "key-42"], 3] });
    await service.tell({ fail: ["rates", 3] });
  });
  after(async () => {
    await looking.stop();
    await service.stop();
  });

  const look = (test: (shown: Shown) => Promise<void>) =>
    looking.at(service.url("/circuits"), test);

  test("the open ones come first, below their breaker; the others are counted", () =>
    look(async (shown) => {
      const top = ["rates", "hotels", "key-42", "key-7123"];
      await shown.lists(...top, "pms", "regions");
      await shown.sees("hotels", "10,000 keys: 2 open, 9,998 closed");
      await shown.sees("regions", "3 keys: all closed");
      await shown.says("#found", "10,005 circuits");
      await shown.says('.chip[data-state="open"]', "3 Open");
      assert.equal(await shown.page.locator("#pages").isVisible(), false);
    }));

  test("all keys are shown when asked for, a page at a time", () =>
    look(async (shown) => {
      await shown.row("hotels").getByRole("button", { name: "Show all keys of hotels" }).click();
      await shown.says("#page", "Page 1 of 101");
      assert.equal((await shown.names()).length, 100);
      await shown.page.click("#next");
      await shown.says("#page", "Page 2 of 101");
      const names = await shown.names();
      // The page says whose keys these are.
      assert.equal(names[0], "hotels");
      assert.equal(names.length, 101);
      assert.equal(await shown.page.evaluate("document.activeElement.id"), "list");
      for (let page = 3; page <= 5; page++) await shown.page.click("#next");
      await shown.says("#page", "Page 5 of 101");
      await shown.page.click("#previous");
      await shown.says("#page", "Page 4 of 101");
      await shown.row("hotels").getByRole("button", { name: "Show fewer keys of hotels" }).click();
      await shown.lists("rates", "hotels", "key-42", "key-7123", "pms", "regions");
    }));

  test("a search finds what is meant, at once, and stays in the address", () =>
    look(async (shown) => {
      await shown.search("KEY-7123");
      await shown.lists("hotels", "key-7123");
      await shown.says("#found", "1 of 10,005 circuits");
      assert.match(shown.page.url(), /#q=KEY-7123$/);
      await shown.search("hotels 999");
      await shown.says("#found", "19 of 10,005 circuits");
      await shown.search("no such");
      await shown.says("#none", "No circuit is found.");
      await shown.page.keyboard.press("Escape");
      assert.equal(await shown.page.inputValue("#text"), "");
      await shown.says("#found", "10,005 circuits");
      await shown.page.click('.chip[data-state="open"]');
      await shown.lists("rates", "hotels", "key-42", "key-7123");
      await shown.search("42");
      await shown.lists("hotels", "key-42");
      await shown.page.reload();
      await shown.lists("hotels", "key-42");
      assert.equal(
        await shown.page.getAttribute('.chip[data-state="open"]', "aria-pressed"),
        "true",
      );
    }));

  test("it is sorted as it is asked for", () =>
    look(async (shown) => {
      await shown.page.selectOption("#sort", "name");
      await shown.lists("hotels", "key-42", "key-7123", "pms", "rates", "regions");
      await shown.page.selectOption("#sort", "since");
      await shown.lists("rates", "hotels", "key-42", "key-7123", "pms", "regions");
      // Numbers as numbers.
      await shown.page.selectOption("#sort", "name");
      await shown.search("key-1");
      const names = (await shown.names()).slice(1, 5);
      assert.deepEqual(names, ["key-1", "key-10", "key-11", "key-12"]);
      for (const sort of ["calls", "failed", "refused", "state"]) {
        await shown.page.selectOption("#sort", sort);
        await shown.says("#found", "1,112 of 10,005 circuits");
      }
    }));

  test("one of them trips while others are looked at, and what is told is only what changed", () =>
    look(async (shown) => {
      const sizes: number[] = [];
      shown.page.on("response", (response) => {
        if (!response.url().includes("since=")) return;
        response.body().then(
          (body) => sizes.push(body.length),
          () => {},
        );
      });
      await service.tell({ fail: [["hotels", "key-9000"], 3] });
      await shown.sees("key-9000", "Opened after 3 failures, for 30s");
      await shown.sees("hotels", "10,000 keys: 3 open, 9,997 closed");
      await service.tell({ pass: 30_000 }, { succeed: ["hotels", "key-9000"] });
      await shown.sees("hotels", "10,000 keys: 2 open, 9,998 closed");
      assert.ok(sizes.length > 0);
      // A slice of the rates may end meanwhile, which is new of three circuits more.
      assert.ok(Math.max(...sizes) < 8_000, `${Math.max(...sizes)} bytes`);
    }));

  test("what has the focus keeps it while the list changes", () =>
    look(async (shown) => {
      await shown.row("regions").getByRole("button", { name: "Show all keys of regions" }).click();
      const button = shown.row("key-2").locator("button.row");
      await button.focus();
      await service.tell({ fail: [["regions", "key-2"], 3] });
      await shown.sees("key-2", "Opened after 3 failures");
      assert.equal(await button.evaluate((button) => button === document.activeElement), true);
      await service.tell({ pass: 30_000 }, { succeed: ["regions", "key-2"] });
      await shown.sees("key-2", "Closed: its probes succeeded");
      assert.equal(await button.evaluate((button) => button === document.activeElement), true);
    }));
});
