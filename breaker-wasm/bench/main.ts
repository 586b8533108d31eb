// `cargo xtask bench wasm`: what the npm package adds to a bundle, and to a call, beside its peers.

import { FULL, SMOKE } from "./measure.js";
import { page } from "./page.js";
import { inNode, inWorkerd } from "./runtimes.js";
import { sizes } from "./sizes.js";

const options = process.argv.slice(2);
const unknown = options.filter((option) => !["--json", "--smoke"].includes(option));
if (unknown.length > 0) {
  console.error(`unknown option ${unknown.join(" ")}: expected --json or --smoke`);
  process.exit(2);
}

const effort = options.includes("--smoke") ? SMOKE : FULL;
// A request costs as much as thousands of calls.
const long = { ...effort, rounds: Math.ceil(effort.rounds / 3), slice: effort.slice * 10 };
const figures = {
  sizes: await sizes(),
  node: await inNode(effort),
  workerd: await inWorkerd(long),
};
console.log(options.includes("--json") ? JSON.stringify(figures, null, 2) : page(figures));
