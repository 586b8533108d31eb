// The client of the property-management system.
import { CircuitBreaker } from "breaker-wasm";

import * as lastGood from "./last-good.ts";

/** What is free in a hotel. */
export interface Inventory {
  rooms: number;
  /** Not of now: the last that the PMS said. */
  stale: boolean;
}

/** The PMS knows no such hotel: an answer, and no outage. */
export class UnknownHotel extends Error {
  constructor() {
    super("the PMS knows no such hotel");
  }
}

/** One per isolate. `probeTimeout` is for a probe whose request is aborted: nobody tells the isolate. */
export const breaker = new CircuitBreaker({
  name: "pms",
  threshold: 3,
  reset: "10s",
  probeTimeout: "20s",
  timeout: "2s",
  classify: (error) => !(error instanceof UnknownHotel),
});

/** Where the PMS is. */
export class Pms {
  readonly #url: URL;

  private constructor(url: URL) {
    this.#url = url;
  }

  /** `undefined` for what is no URL of the web. */
  static at(url: string | undefined): Pms | undefined {
    if (!url || !URL.canParse(url)) {
      return undefined;
    }
    const parsed = new URL(url);
    return ["http:", "https:"].includes(parsed.protocol) ? new Pms(parsed) : undefined;
  }

  /** What is free in a hotel now, or was when the PMS last said so. */
  inventory(hotel: string): Promise<Inventory> {
    return breaker.call(({ signal }) => this.#ask(hotel, signal), {
      fallback: () => lastGood.of(hotel),
    });
  }

  async #ask(hotel: string, signal: AbortSignal): Promise<Inventory> {
    const response = await fetch(new URL(`hotels/${hotel}`, this.#url), { signal });
    if (response.status === 404) {
      throw new UnknownHotel();
    }
    if (!response.ok) {
      throw new Error(`the PMS answered ${response.status}`);
    }
    const { rooms } = (await response.json()) as { rooms?: unknown };
    if (typeof rooms !== "number") {
      throw new Error("the PMS answered what is no inventory");
    }
    lastGood.keep(hotel, rooms);
    return { rooms, stale: false };
  }
}

/** Whether it is the name of a hotel, as it goes into a path. */
export function isHotel(name: string): boolean {
  return /^[A-Za-z0-9_-]{1,40}$/.test(name);
}
