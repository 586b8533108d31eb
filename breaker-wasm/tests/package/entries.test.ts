// Each entry, where it is for: it starts by itself, trips and rejects.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { type Browser, chromium } from "playwright-core";
import { Project } from "./packed.js";

/** Trips a breaker, and says what it did. */
const TRIP = `
export async function trip({ CircuitBreaker, CircuitOpenError }) {
  const breaker = new CircuitBreaker({ name: "pms", threshold: 2, reset: "30s" });
  const said = [];
  for (let call = 0; call < 3; call++) {
    try {
      await breaker.call(async () => { throw new Error("down"); });
    } catch (error) {
      said.push(error instanceof CircuitOpenError ? "rejected" : error.message);
    }
  }
  return [...said, breaker.state].join(" ");
}
`;

const TRIPPED = "down down rejected open";

describe("the packed package", () => {
  let project: Project;
  let dist: string;

  before(() => {
    project = new Project();
    dist = join(project.folder, "node_modules/breaker-wasm/dist");
    project.write("trip.mjs", TRIP);
  });
  after(() => project.remove());

  /** What a bundler makes of a user's program; `module` is left to what runs it. */
  async function bundle(name: string, program: string, conditions: string[]): Promise<string> {
    project.write(`${name}.mjs`, program);
    const made = await build({
      entryPoints: [join(project.folder, `${name}.mjs`)],
      absWorkingDir: project.folder,
      bundle: true,
      write: false,
      format: "esm",
      target: "es2022",
      // Or it adds conditions of its own.
      platform: "neutral",
      conditions,
      external: ["*.wasm"],
      logLevel: "silent",
    });
    return made.outputFiles[0]?.text ?? "";
  }

  describe("in Node", () => {
    test("is imported", () => {
      project.write(
        "imported.mjs",
        'import * as all from "breaker-wasm"; import { trip } from "./trip.mjs"; console.log(await trip(all));',
      );
      assert.equal(project.run("node", "imported.mjs").trim(), TRIPPED);
    });

    test("is started by the entry for sharing too", () => {
      project.write(
        "sharing.mjs",
        `import { sharedBreaker } from "breaker-wasm/durable-object";
        import { CircuitBreaker } from "breaker-wasm";
        const nobody = { idFromName: () => "id", get: () => { throw new Error("nobody"); } };
        const breaker = sharedBreaker(nobody, "pms");
        breaker.on("sharingFailed", ({ cause }) => console.log(cause.message));
        console.log(await breaker.call(() => "made"), breaker instanceof CircuitBreaker);`,
      );
      assert.equal(project.run("node", "sharing.mjs").trim(), "nobody\nmade true");
    });

    test("is required: nothing in it waits", () => {
      project.write(
        "required.cjs",
        'const all = require("breaker-wasm"); import("./trip.mjs").then(async ({ trip }) => console.log(await trip(all)));',
      );
      const args = ["--no-warnings", "required.cjs"];
      // Newer ones need no word.
      if (!process.features.require_module) args.unshift("--experimental-require-module");
      assert.equal(project.run("node", ...args).trim(), TRIPPED);
    });

    test("is the same, imported and required", async () => {
      project.write(
        "both.mjs",
        'import { createRequire } from "node:module"; import * as all from "breaker-wasm"; console.log(createRequire(import.meta.url)("breaker-wasm").CircuitBreaker === all.CircuitBreaker);',
      );
      assert.equal(project.run("node", "--no-warnings", "both.mjs").trim(), "true");
    });

    test("needs no bundler where modules of WebAssembly are imported as modules", () => {
      project.write(
        "integrated.mjs",
        `import * as all from ${JSON.stringify(join(dist, "worker.js"))}; import { trip } from "./trip.mjs"; console.log(await trip(all));`,
      );
      const flags = ["--no-warnings", "--experimental-wasm-modules"];
      assert.equal(project.run("node", ...flags, "integrated.mjs").trim(), TRIPPED);
    });
  });

  describe("in workerd", () => {
    const PROGRAM = `
      import * as all from "breaker-wasm";
      import { trip } from "./trip.mjs";
      export default { fetch: async () => new Response(await trip(all)) };
    `;

    /** What a worker answers, as wrangler would deploy it. */
    async function answered(script: string, objects: Record<string, string> = {}): Promise<string> {
      const specifier = /"([^"]*breaker\.wasm)"/.exec(script)?.[1] ?? "none";
      const worker = new Miniflare({
        compatibilityDate: "2026-04-01",
        modulesRoot: project.folder,
        modules: [
          { type: "ESModule", path: join(project.folder, "main.mjs"), contents: script },
          {
            type: "CompiledWasm",
            path: join(project.folder, specifier),
            contents: readFileSync(join(dist, "breaker.wasm")),
          },
        ],
        durableObjects: objects,
      });
      try {
        const response = await worker.dispatchFetch("http://worker/");
        return await response.text();
      } finally {
        await worker.dispose();
      }
    }

    test("is bundled as wrangler does: the module stays a file", async () => {
      const script = await bundle("worker", PROGRAM, ["workerd", "worker", "browser"]);
      assert.equal(await answered(script), TRIPPED);
    });

    test("shares a circuit by a Durable Object, from one entry", async () => {
      const script = await bundle(
        "shared",
        `import { sharedBreaker } from "breaker-wasm/durable-object";
        export { BreakerObject } from "breaker-wasm/durable-object";
        export default {
          async fetch(request, env, ctx) {
            const pms = sharedBreaker(env.BREAKERS, "pms", { threshold: 5 }, ctx);
            await pms.forceOpen();
            return pms.call(() => "made", {}).then(null, (error) => new Response(error.message));
          },
        };`,
        ["workerd"],
      );
      assert.equal(
        await answered(script, { BREAKERS: "BreakerObject" }),
        "circuit `pms` is held open by an operator",
      );
    });

    test("has no word of sharing where it isn't imported", async () => {
      const all = 'export * from "breaker-wasm";';
      assert.doesNotMatch(await bundle("alone", all, ["workerd"]), /Durable|waitUntil/);
    });

    test("is neither fetched nor made of text", async () => {
      const script = await bundle("frozen", PROGRAM, ["workerd"]);
      assert.doesNotMatch(script, /\bfetch\(|\beval\b|\bFunction\(|\bawait import\b/);
    });
  });

  describe("in a browser", () => {
    let browser: Browser;
    before(async () => {
      const executablePath = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
      browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    });
    after(() => browser.close());

    for (const type of ["application/wasm", "application/octet-stream"]) {
      test(`is fetched, served as ${type}`, async () => {
        const server = createServer((request, response) => {
          const name = new URL(request.url ?? "/", "http://page/").pathname;
          const file = name === "/trip.mjs" ? join(project.folder, name) : join(dist, name);
          if (name !== "/" && !existsSync(file)) response.writeHead(404).end();
          else if (name === "/") response.setHeader("content-type", "text/html").end("<p>");
          else {
            const is = name.endsWith(".wasm") ? type : "text/javascript";
            response.setHeader("content-type", is).end(readFileSync(file));
          }
        });
        await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
        const page = await browser.newPage();
        try {
          await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
          const said = await page.evaluate(
            `Promise.all([import("/web.js"), import("/trip.mjs")]).then(([all, { trip }]) => trip(all))`,
          );
          assert.equal(said, TRIPPED);
        } finally {
          await page.close();
          server.close();
        }
      });
    }
  });

  test("each condition has the entry that is for it", async () => {
    const program = 'import { CircuitBreaker } from "breaker-wasm"; console.log(CircuitBreaker);';
    const worker = /import[^;]*breaker\.wasm/;
    const page = /fetch\(/;
    for (const [conditions, wanted] of [
      [["workerd", "worker", "browser"], worker],
      [["module"], worker],
      [["browser", "module"], page],
    ] as const) {
      const script = await bundle("condition", program, [...conditions]);
      assert.match(script, wanted, conditions.join());
    }
    const resolve = createRequire(join(project.folder, "main.cjs")).resolve;
    assert.equal(resolve("breaker-wasm"), join(dist, "node.js"));
  });
});
