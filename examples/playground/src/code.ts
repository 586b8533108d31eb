/** The options as a user writes them. */

import { type Form, type Written, written } from "./form.js";

/** For the npm package. */
export function typescript(form: Form): string {
  const lines = Object.entries(written(form)).map(
    ([option, value]) => `${option}: ${JSON.stringify(value)},`,
  );
  return [
    "const pms = new CircuitBreaker({",
    '  name: "pms",',
    ...lines.map((line) => `  ${line}`),
    "  classify: (error) => error.status !== 404,",
    ...(form.fallback ? ["  fallback: (_, hotel) => lastGood(hotel),"] : []),
    "});",
    "",
    "const inventory = pms.wrap(fetchInventory);",
  ].join("\n");
}

/** Numbers that are `f64` in Rust, which are written with a point. */
const FRACTIONS: ReadonlySet<string> = new Set<keyof Written>([
  "failureRate",
  "slowRate",
  "backoff",
  "jitter",
]);

/** For the crate. */
export function rust(form: Form): string {
  const lines = Object.entries(written(form)).map(([option, value]) => {
    const name = option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const literal =
      FRACTIONS.has(option) && Number.isInteger(value) ? `${value}.0` : JSON.stringify(value);
    return `${name} = ${literal},`;
  });
  return [
    "#[circuit_breaker(",
    '    name = "pms",',
    ...lines.map((line) => `    ${line}`),
    "    classify = |e| e.status() != 404,",
    ...(form.fallback ? ["    fallback = last_good,"] : []),
    ")]",
    "async fn inventory(hotel: &str) -> Answer {",
    "    fetch_inventory(hotel).await",
    "}",
  ].join("\n");
}
