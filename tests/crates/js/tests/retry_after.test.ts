// `Retry-After`, where the standard library has no clock to hold a date against.
import assert from "node:assert/strict";
import { test } from "node:test";

import { start } from "./program.ts";

const THEN = "Sun, 06 Nov 1994 08:50:37 GMT";
const A_MINUTE_BEFORE = "Sun, 06 Nov 1994 08:49:37 GMT";

const at = (date: string): ReturnType<typeof start> =>
  start({ Date: { now: () => Date.parse(date) } });

test("a date is by the answer's own, whatever the time is here", () => {
  for (const now of ["2026-11-30", "1970-01-01", THEN]) {
    assert.equal(at(now).retryAfter(THEN, A_MINUTE_BEFORE), 60);
    assert.equal(at(now).retryAfter("20", THEN), 20);
  }
});

test("a date without another is by Date.now()", () => {
  assert.equal(at(A_MINUTE_BEFORE).retryAfter(THEN), 60);
  assert.equal(at(THEN).retryAfter(THEN), undefined);
  assert.equal(at("2026-11-30").retryAfter(THEN), undefined);
});

test("nonsense is no wait, and never a trap", () => {
  for (const now of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -5]) {
    const program = start({ Date: { now: () => now } });
    program.retryAfter(THEN);
    assert.equal(program.retryAfter("soon"), undefined);
    assert.equal(program.retryAfter("99999999999999999999999"), undefined);
  }
});
