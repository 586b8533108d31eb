// What a user writes: compiled as a project of its own against the packed package (`types.test.ts`).

import { CircuitBreaker, CircuitOpenError } from "breaker-wasm";
import {
  BreakerObject,
  type ObjectNamespace,
  type RequestContext,
  sharedBreaker,
} from "breaker-wasm/durable-object";

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

// One circuit for all isolates: what is of a request is handed over with it.

export class Breakers extends BreakerObject {}

export async function shared(env: { BREAKERS: ObjectNamespace }, ctx: RequestContext) {
  const breaker = sharedBreaker(env.BREAKERS, "pms", { maxAge: "2s", reset: "30s" }, ctx);
  breaker.on("sharingFailed", ({ cause }) => console.error(cause));
  const one: (hotel: string) => Promise<Inventory> = breaker.wrap(fetchInventory);
  const known: boolean = await breaker.forceOpen();
  return [await one("H1"), known, await sharedBreaker(env.BREAKERS, "pms").call(() => 1)];
}

// @ts-expect-error: the name is a parameter of its own
export const named = (all: ObjectNamespace) => sharedBreaker(all, "pms", { name: "pms" });

// @ts-expect-error: a binding, and not its name
export const text = () => sharedBreaker("BREAKERS", "pms");
