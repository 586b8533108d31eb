import assert from "node:assert/strict";
import { test } from "node:test";
import { type Timed, measure, median } from "../../bench/measure.js";

const EFFORT = { rounds: 9, warmUp: 2, slice: 1 };

for (const count of [1, 2, 3, 4, 5, 6]) {
  test(`of ${count}, each runs once in each round, and is compared with the first of that round`, async () => {
    // Slower and slower, so that another round's first would be seen.
    let round = 0;
    const ran: number[] = [];
    const subjects = Array.from({ length: count }, (_, index): Timed => {
      return async (calls) => {
        // To find out how many calls fill a slice; they do not fill it by 16.
        if (calls === 16) return 8e5 * (index + 1);
        ran.push(index);
        if (ran.length % count === 0) round++;
        return calls * (100 * index + Math.floor((ran.length - 1) / count) * 7);
      };
    });
    const costs = await measure(subjects, EFFORT);
    assert.equal(round, EFFORT.rounds + EFFORT.warmUp);
    for (let start = 0; start < ran.length; start += count) {
      const turns = ran.slice(start, start + count).toSorted();
      assert.deepEqual(turns, [...subjects.keys()], `round ${start / count}`);
    }
    assert.deepEqual(
      costs.map(({ over }) => Math.round(over)),
      subjects.map((_, index) => 100 * index),
    );
  });
}

test("a slice that was held up once is not taken for a slow subject", async () => {
  let asked = 0;
  let most = 0;
  const subject: Timed = async (calls) => {
    most = Math.max(most, calls);
    // 10 ns a call, and the first time 5 ms besides.
    return calls * 10 + (asked++ === 0 ? 5e6 : 0);
  };
  await measure([subject], EFFORT);
  assert.ok(most >= 90_000, `a slice of 1 ms is 100,000 calls, not ${most}`);
});

test("the median is the value in the middle, or between the two", () => {
  assert.equal(median([3]), 3);
  assert.equal(median([5, 1, 3]), 3);
  assert.equal(median([4, 1, 3, 2]), 2.5);
});
