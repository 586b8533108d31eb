/** The contract's cases, through the package as users have it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readCases } from "./case.js";
import { Inexpressible } from "./config.js";
import { Player } from "./player.js";

/** Of 242; the others have windows of time of another number of buckets. */
const EXPRESSIBLE = 225;

for (const watched of [false, true]) {
  test(`the contract's cases${watched ? ", with somebody who listens" : ""}`, async (context) => {
    let played = 0;
    for (const each of readCases()) {
      try {
        await new Player(each, watched).play();
        played += 1;
      } catch (error) {
        const why = error instanceof Error && error.cause ? error.cause : error;
        if (!(why instanceof Inexpressible)) {
          throw error;
        }
      }
    }
    context.diagnostic(`${played} cases passed`);
    assert.equal(played, EXPRESSIBLE);
  });
}
