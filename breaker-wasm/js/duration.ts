/**
 * A duration: milliseconds, or text such as `"30s"`, `"250ms"`, `"1.5s"`, `"1m30s"`: the units d, h,
 * m, s, ms, us and ns from the largest to the smallest, each once.
 */
export type Duration = number | string;

/** Milliseconds of each unit. */
const UNITS: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5,
  d: 864e5,
};

const PART = /(\d+(?:\.\d+)?)([mun]?s|[mhd])/gy;

/** Milliseconds; NaN for what is no duration. */
export function millis(duration: unknown): number {
  if (typeof duration !== "string" || !duration) {
    return typeof duration === "number" ? duration : NaN;
  }
  let sum = 0;
  let end = 0;
  let smallest = Infinity;
  for (const [part, count, unit] of duration.matchAll(PART)) {
    const scale = UNITS[unit as string]!;
    if (scale >= smallest) {
      return NaN;
    }
    // Only the last part may have a fraction.
    smallest = count!.includes(".") ? 0 : scale;
    sum += Number(count) * scale;
    end += part.length;
  }
  return end === duration.length ? sum : NaN;
}
