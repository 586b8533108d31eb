// What the page shows for some of its forms (`code.test.ts` has them), word for word, so that it is
// typed; each is made below, so that the package takes it.

import { CircuitBreaker } from "breaker-wasm";

declare function lastGood(hotel: string): number | undefined;
declare function fetchInventory(hotel: string): Promise<number>;

export function asItStarts() {
  // shown: as_it_starts
  const pms = new CircuitBreaker({
    name: "pms",
    threshold: 5,
    reset: "5s",
    timeout: "1s",
    classify: (error) => error.status !== 404,
  });

  const inventory = pms.wrap(fetchInventory);

  return inventory;
}

export function byRateOfCalls() {
  // shown: by_rate_of_calls
  const pms = new CircuitBreaker({
    name: "pms",
    failureRate: 1,
    window: 20,
    minCalls: 10,
    slow: "250ms",
    slowRate: 0.5,
    reset: "5s",
    backoff: 2,
    jitter: 0,
    probes: 3,
    closeAfter: 5,
    timeout: "1s",
    classify: (error) => error.status !== 404,
    fallback: (_, hotel) => lastGood(hotel),
  });

  const inventory = pms.wrap(fetchInventory);

  return inventory;
}

export function byRateOfTime() {
  // shown: by_rate_of_time
  const pms = new CircuitBreaker({
    name: "pms",
    failureRate: 0.5,
    window: "10s",
    minCalls: 10,
    reset: "5s",
    backoff: 1.5,
    probes: 2,
    classify: (error) => error.status !== 404,
  });

  const inventory = pms.wrap(fetchInventory);

  return inventory;
}
