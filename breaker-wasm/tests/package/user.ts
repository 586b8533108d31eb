// What a user writes: compiled as a project of its own against the packed package (`types.test.ts`).

import { CircuitBreaker, CircuitOpenError } from "breaker-wasm";

interface Inventory {
  readonly hotel: string;
  readonly rooms: number;
}

class PmsError extends Error {
  readonly status = 503;
}

async function fetchInventory(hotel: string): Promise<Inventory> {
  if (hotel === "") throw new PmsError("no hotel");
  return { hotel, rooms: 3 };
}

const pms = new CircuitBreaker({
  name: "pms",
  threshold: 5,
  reset: "30s",
  classify: (error) => error instanceof PmsError && error.status >= 500,
  timeout: "2s",
});

const inventory: (hotel: string) => Promise<Inventory> = pms.wrap(fetchInventory);

export async function rooms(hotel: string): Promise<number> {
  try {
    const found = await inventory(hotel);
    return found.rooms + (await pms.call(async () => 1));
  } catch (error) {
    if (error instanceof CircuitOpenError) return -(error.retryAfter ?? 0);
    throw error;
  }
}

// A breaker that is of another type than it says would let these pass.

// @ts-expect-error: a number of failures
export const misspelt = new CircuitBreaker({ name: "pms", threshold: "5" });

// @ts-expect-error: an option that there is not
export const unknown = new CircuitBreaker({ name: "pms", treshold: 5 });

// @ts-expect-error: the function wants a string
export const wrong = () => inventory(1);
