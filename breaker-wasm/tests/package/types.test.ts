import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Project, packageRoot, workspace } from "./packed.js";
import { RESOLUTIONS, STRICT, TYPE_ROOTS } from "./strict.js";

/** Where users get `AbortSignal` and the like from: one of these. */
const SURROUNDINGS = [
  { of: "a page", lib: ["ES2022", "DOM"], types: [], files: ["user.ts"] },
  { of: "Node", lib: ["ES2022"], types: ["node"], files: ["user.ts"] },
  {
    of: "a worker",
    lib: ["ES2022"],
    types: ["@cloudflare/workers-types"],
    files: ["user.ts", "worker.ts"],
  },
];

describe("a strict project accepts the packed package", () => {
  let project: Project;
  before(() => {
    project = new Project();
    for (const file of ["user.ts", "worker.ts"]) {
      cpSync(join(packageRoot, "tests/package", file), join(project.folder, file));
    }
  });
  after(() => project.remove());

  for (const resolution of RESOLUTIONS) {
    for (const { of, lib, types, files } of SURROUNDINGS) {
      test(`${resolution.moduleResolution}, with the types of ${of}`, () => {
        const places = { lib, types, typeRoots: TYPE_ROOTS };
        const compilerOptions = { ...STRICT, ...resolution, ...places };
        project.write("tsconfig.json", JSON.stringify({ compilerOptions, files }));
        project.run(join(workspace, "node_modules/.bin/tsc"), "-p", ".");
      });
    }
  }

  test("and is told its mistakes", () => {
    project.write("mistaken.ts", 'import { CircuitBreker } from "breaker-wasm";\n');
    const compilerOptions = { ...STRICT, ...RESOLUTIONS[2], lib: ["ES2022", "DOM"], types: [] };
    project.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["mistaken.ts"] }));
    assert.throws(
      () => project.run(join(workspace, "node_modules/.bin/tsc"), "-p", "."),
      /CircuitBreker/,
    );
  });
});
