// Rounds in which every subject runs in turn, so that whatever slows the machine down hits all alike.

/** How much is done. */
export interface Effort {
  readonly rounds: number;
  readonly warmUp: number;
  /** How long a subject runs in one round, in milliseconds. */
  readonly slice: number;
}

export const FULL: Effort = { rounds: 151, warmUp: 15, slice: 2 };
export const SMOKE: Effort = { rounds: 3, warmUp: 1, slice: 0.05 };

/** Runs a subject so many times and says how long that took, in nanoseconds. */
export type Timed = (calls: number) => Promise<number>;

/** What a subject costs, in nanoseconds a call: each the median over the rounds. */
export interface Cost {
  readonly cost: number;
  /** Over the first subject, of the same round. */
  readonly over: number;
}

/** The cost of each subject; the first is what the others are compared with. */
export async function measure(subjects: readonly Timed[], effort: Effort): Promise<Cost[]> {
  const calls: number[] = [];
  for (const subject of subjects) calls.push(await callsIn(effort.slice, subject));
  const costs: number[][] = subjects.map(() => []);
  for (let round = -effort.warmUp; round < effort.rounds; round++) {
    // From another one on in each round, and every second round backwards: none has the same
    // before it each time.
    for (let turn = 0; turn < subjects.length; turn++) {
      const place = (round & 1 ? subjects.length - 1 - turn : turn) + Math.abs(round);
      const index = place % subjects.length;
      const [subject, many, all] = [subjects[index], calls[index], costs[index]];
      if (subject === undefined || many === undefined || all === undefined) continue;
      const took = (await subject(many)) / many;
      if (round >= 0) all[round] = took;
    }
  }
  const [bare] = costs;
  return costs.map((all) => ({
    cost: median(all),
    over: median(all.map((cost, round) => cost - (bare?.[round] ?? NaN))),
  }));
}

/** How many calls take that long, in milliseconds. */
async function callsIn(slice: number, subject: Timed): Promise<number> {
  let calls = 16;
  for (;;) {
    // The least of a few: one may have been held up.
    const took = Math.min(await subject(calls), await subject(calls), await subject(calls));
    if (took >= (slice * 1e6) / 2) return Math.max(1, Math.round((calls * slice * 1e6) / took));
    calls *= 2;
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return ((low ?? NaN) + (high ?? NaN)) / 2;
}
