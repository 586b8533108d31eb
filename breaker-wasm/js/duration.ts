/** A duration: milliseconds, or text such as `"30s"`, `"250ms"`, `"1.5s"`, `"1m30s"`. */
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
  for (const [part, count, unit] of duration.matchAll(PART)) {
    sum += Number(count) * UNITS[unit as string]!;
    end += part.length;
  }
  return end === duration.length ? sum : NaN;
}
