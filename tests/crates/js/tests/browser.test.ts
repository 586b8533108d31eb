// The program in a real browser, in its page and in a worker of it, on the browser's own
// clock and timers.
import assert from "node:assert/strict";
import { test } from "node:test";

import { chromium } from "playwright-core";

import { glue, wasm } from "./program.ts";

const executablePath = process.env["CHROMIUM"];
if (executablePath === undefined) {
  throw new Error("`CHROMIUM` is not set: run these tests by `cargo xtask test`");
}

/** What a page or a worker does: it says how each of its calls ended. */
const calls = `
  const bytes = Uint8Array.from(atob("${wasm.toString("base64")}"), (c) => c.charCodeAt(0));
  const run = async () => {
    await wasm_bindgen({ module_or_path: bytes });
    const ended = (call) => call.then(String, (error) => error.name);
    const fails = () => Promise.reject(new RangeError("no answer"));
    const hangs = () => new Promise(() => undefined);
    const seen = [];
    for (let call = 0; call < 4; call += 1) {
      seen.push(await ended(wasm_bindgen.rooms(fails)));
    }
    seen.push(wasm_bindgen.state("rooms"));
    seen.push(await ended(wasm_bindgen.limited(5, hangs)));
    seen.push(await ended(wasm_bindgen.limited(60_000, async () => "7 rooms")));
    const before = performance.now();
    await wasm_bindgen.sleep(20_000_000n);
    // Browsers blur their clock by up to a millisecond.
    seen.push(performance.now() - before >= 19);
    const now = performance.timeOrigin + performance.now();
    seen.push(Math.abs(Number(wasm_bindgen.now()) / 1e6 - now) < 60_000);
    return seen;
  };
`;

const expected = [
  "RangeError",
  "RangeError",
  "RangeError",
  "CircuitOpenError",
  "open",
  "TimeoutError",
  "7 rooms",
  true,
  true,
];

test("in a page, and in a worker of it", async (context) => {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  context.after(() => browser.close());
  const page = await browser.newPage();

  assert.deepEqual(await page.evaluate(`${glue}; ${calls}; run()`), expected);

  const script = `${glue}; ${calls}; run().then(postMessage)`;
  const inWorker = await page.evaluate((script) => {
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    return new Promise((resolve, reject) => {
      const worker = new Worker(url);
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
  }, script);
  assert.deepEqual(inWorker, expected);
});
