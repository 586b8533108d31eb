// What the worker answers.
import { CircuitOpenError } from "breaker-wasm";

import { type Pms, UnknownHotel, breaker } from "./pms.ts";

/** Where nothing else says when to come back, in seconds. */
const RETRY_AFTER = 1;

export async function of(hotel: string, pms: Pms): Promise<Response> {
  try {
    const { rooms, stale } = await pms.inventory(hotel);
    const body = { hotel, rooms, stale, breaker: breaker.state };
    return Response.json(body, { headers: { "x-stale": String(stale) } });
  } catch (error) {
    if (error instanceof UnknownHotel) {
      return failure(404, error.message, { breaker: breaker.state });
    }
    const after =
      error instanceof CircuitOpenError && error.retryAfter !== undefined
        ? Math.floor(error.retryAfter / 1_000) + 1
        : RETRY_AFTER;
    const why = error instanceof Error ? error.message : String(error);
    const response = failure(503, why, { breaker: breaker.state });
    response.headers.set("retry-after", String(after));
    return response;
  }
}

export function badRequest(expected: string): Response {
  return failure(400, expected);
}

export function misconfigured(variable: string): Response {
  return failure(500, `the variable \`${variable}\` is not set to a URL: \`https://pms.example\``);
}

export function failure(status: number, error: string, more?: { breaker: string }): Response {
  return Response.json({ error, ...more }, { status });
}
