/** The program that the README shows, as two workers that are bound to the objects of one. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Miniflare } from "miniflare";
import { bundled } from "../bundle.js";
import { blockWith } from "../package/documented.js";
import { Origin } from "../workerd/origin.js";

/** Failures that open it. */
const THRESHOLD = 5;

async function start(context: TestContext, compatibilityDate: string) {
  const { text } = blockWith("sharedBreaker(");
  const modules = await bundled({
    stdin: { contents: text, loader: "ts", resolveDir: import.meta.dirname },
  });
  const origin = new Origin();
  const bindings = { PMS_URL: await origin.start() };
  const worker = { compatibilityDate, modules, bindings };
  const object = { className: "BreakerObject", useSQLite: true };
  const runtime = new Miniflare({
    workers: [
      { ...worker, name: "first", durableObjects: { BREAKERS: object } },
      {
        ...worker,
        name: "second",
        durableObjects: { BREAKERS: { ...object, scriptName: "first" } },
      },
    ],
  });
  context.after(async () => {
    await runtime.dispose();
    await origin.stop();
  });
  const ask = (worker: string) => async () => {
    const response = await (await runtime.getWorker(worker)).fetch("http://worker/");
    return { status: response.status, body: await response.text() };
  };
  /** When the object knows that it is open. */
  const isOpen = async () => {
    const objects = await runtime.getDurableObjectNamespace("BREAKERS", "first");
    const object = objects.get(objects.idFromName("pms"));
    const read = { method: "POST", body: JSON.stringify({ kind: "read" }) };
    let said = "";
    while (!said.includes('"open"')) {
      said = await (await object.fetch("http://object/", read)).text();
    }
  };
  return { origin, isOpen, first: ask("first"), second: ask("second") };
}

for (const date of ["2024-01-01", "2026-04-01"]) {
  test(`what one worker finds out, the other one knows, as of ${date}`, async (context) => {
    const { origin, isOpen, first, second } = await start(context, date);
    assert.deepEqual(await first(), { status: 200, body: "well" });
    origin.answers = "badly";
    for (let call = 0; call < THRESHOLD; call += 1) {
      assert.deepEqual(await first(), { status: 502, body: "the PMS answered 500" });
    }
    await isOpen();
    const { asked } = origin;
    for (const worker of [first, second]) {
      const { status, body } = await worker();
      assert.equal(status, 503);
      assert.match(body, /^circuit `pms` is open: retry in /);
    }
    assert.equal(origin.asked, asked);
  });
}
