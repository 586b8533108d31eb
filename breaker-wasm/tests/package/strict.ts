// A project that lets nothing pass, and where its types come from.

import { join } from "node:path";
import { workspace } from "./packed.js";

export const RESOLUTIONS = [
  { module: "ESNext", moduleResolution: "Bundler" },
  { module: "Node16", moduleResolution: "Node16" },
  { module: "NodeNext", moduleResolution: "NodeNext" },
];

export const STRICT = {
  target: "ES2022",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  // The package's own declarations are looked at too.
  skipLibCheck: false,
  noEmit: true,
};

export const TYPE_ROOTS = [join(workspace, "node_modules"), join(workspace, "node_modules/@types")];
