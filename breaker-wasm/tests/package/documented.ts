// The TypeScript that the documents show.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { workspace } from "./packed.js";

/** A block of code, and where it stands. */
export interface Block {
  readonly place: string;
  readonly text: string;
}

/** The TypeScript blocks of a document, by its path in the workspace. */
export function blocksOf(path: string): Block[] {
  const lines = readFileSync(join(workspace, path), "utf8").split("\n");
  const blocks: Block[] = [];
  let begun: number | undefined;
  for (const [index, line] of lines.entries()) {
    if (begun === undefined && /^```(ts|typescript)\b/.test(line)) {
      begun = index + 1;
    } else if (begun !== undefined && line.startsWith("```")) {
      const text = `${lines.slice(begun, index).join("\n")}\n`;
      blocks.push({ place: `${path}:${begun + 1}`, text });
      begun = undefined;
    }
  }
  return blocks;
}

/** The block of the package's README that has these words in it. */
export function blockWith(words: string): Block {
  const found = blocksOf("breaker-wasm/README.md").filter(({ text }) => text.includes(words));
  const [block, another] = found;
  if (!block || another) {
    throw new Error(`${found.length} blocks of the README have \`${words}\` in them, and not one`);
  }
  return block;
}
