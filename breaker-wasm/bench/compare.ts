// The comparisons, wherever they are made.

import { type Cost, type Effort, type Timed, measure } from "./measure.js";
import { type Subject, comparisons } from "./subjects.js";

export interface Row extends Cost {
  readonly by: Subject["by"];
  readonly what: string;
}

export interface Table {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** How a subject of a comparison is timed. */
type Timing = (comparison: number, subject: number, loop: Subject["loop"]) => Timed;

export async function compare(timing: Timing, effort: Effort): Promise<Table[]> {
  const made: Table[] = [];
  for (const [comparison, { title, subjects }] of (await comparisons()).entries()) {
    const timed = subjects.map(({ loop }, subject) => timing(comparison, subject, loop));
    const costs = await measure(timed, effort);
    const rows = subjects.map(({ by, what }, index) => {
      const cost = costs[index] ?? { cost: NaN, over: NaN };
      return { by, what, ...cost };
    });
    made.push({ title, rows });
  }
  return made;
}

/** How long something takes, in nanoseconds. */
export async function time(run: () => Promise<unknown>): Promise<number> {
  const started = process.hrtime.bigint();
  await run();
  return Number(process.hrtime.bigint() - started);
}
