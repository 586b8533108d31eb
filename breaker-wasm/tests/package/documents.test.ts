import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { blocksOf } from "./documented.js";
import { Project, workspace } from "./packed.js";
import { RESOLUTIONS, STRICT, TYPE_ROOTS } from "./strict.js";

/** Documents with TypeScript in them. */
const DOCUMENTS = ["breaker-wasm/README.md", "src/guide/edge.md"];

describe("the code that documents show is accepted by a strict project", () => {
  let project: Project;
  before(() => {
    project = new Project();
  });
  after(() => project.remove());

  for (const path of DOCUMENTS) {
    const blocks = blocksOf(path);
    test(`${path} shows some`, () => assert.ok(blocks.length > 0));
    for (const [index, { place, text }] of blocks.entries()) {
      test(place, () => {
        const name = `${path.replace(/\W/g, "-")}-${index}.ts`;
        project.write(name, text);
        const compilerOptions = {
          ...STRICT,
          ...RESOLUTIONS.at(-1),
          lib: ["ES2022"],
          types: ["@cloudflare/workers-types"],
          typeRoots: TYPE_ROOTS,
        };
        project.write("tsconfig.json", JSON.stringify({ compilerOptions, files: [name] }));
        project.run(join(workspace, "node_modules/.bin/tsc"), "-p", ".");
      });
    }
  }
});
