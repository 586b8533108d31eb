/** The contract's cases, through the package as users have it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readCases } from "./case.js";
import { Inexpressible } from "./config.js";
import { LEFT_OUT } from "./left-out.js";
import { Player } from "./player.js";

for (const watched of [false, true]) {
  test(`the contract's cases${watched ? ", with somebody who listens" : ""}`, async (context) => {
    let played = 0;
    const leftOut: Record<string, string> = {};
    for (const each of readCases()) {
      try {
        await new Player(each, watched).play();
        played += 1;
      } catch (error) {
        const why = error instanceof Error && error.cause ? error.cause : error;
        if (!(why instanceof Inexpressible)) {
          throw error;
        }
        leftOut[`${each.source}: ${each.name}`] = why.message;
      }
    }
    context.diagnostic(`${played} cases passed`);
    assert.deepEqual(leftOut, LEFT_OUT);
  });
}
