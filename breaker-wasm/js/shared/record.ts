/** What the object keeps, and what a message makes of it: no clock, no storage. */

import type { State } from "../names.js";
import type { Answer, Message, Version } from "./protocol.js";

/** A circuit, as it is stored. Milliseconds; `since` by the object's clock. */
export interface CircuitRecord {
  readonly version: Version;
  readonly state: State;
  /** When it entered the state. */
  readonly since: number;
  /** How long it is open, or, while half-open, how long the lease is. */
  readonly lasts: number;
  readonly imposed: boolean;
  readonly reopenings: number;
  /** The number of the last version that an operator made; 0: none. */
  readonly operated: number;
}

/** Of an object that never was asked before. */
export function begin(life: string, now: number): CircuitRecord {
  return {
    version: { life, number: 1 },
    state: "closed",
    since: now,
    lasts: 0,
    imposed: false,
    reopenings: 0,
    operated: 0,
  };
}

/**
 * Where the clock was set back no time has passed, and its beginning goes back with it: else it would
 * stand for as long as the clock lost.
 */
export function stampedBy(now: number, record: CircuitRecord): CircuitRecord {
  return record.since > now ? { ...record, since: now } : record;
}

/** What is left of an opening or a lease. */
function left({ since, lasts }: CircuitRecord, now: number): number {
  return Math.max(since + lasts - now, 0);
}

/** What a message makes of the record; and whether what it asked for was done. */
export function decide(
  record: CircuitRecord,
  message: Message,
  now: number,
): [record: CircuitRecord, done: boolean] {
  const { version, operated } = record;
  const number = version.number + 1;
  const enter = (
    entered: Pick<CircuitRecord, "state" | "lasts"> & Partial<CircuitRecord>,
  ): [record: CircuitRecord, done: boolean] => [
    { ...record, version: { life: version.life, number }, since: now, ...entered },
    true,
  ];
  const isPresent = (since: Version): boolean =>
    since.life === version.life && since.number === version.number;

  switch (message.kind) {
    case "lease": {
      const waits = record.state === "open" || record.state === "half_open";
      if (waits && left(record, now) === 0) {
        return enter({ state: "half_open", lasts: message.time });
      }
      break;
    }
    case "changed": {
      const { to, since, operator, again } = message;
      const counts = operator
        ? !again || !operated || (since?.life === version.life && since.number >= operated)
        : since
          ? isPresent(since)
          : record.state === "closed";
      if (counts) {
        const { state, timeLeft: lasts, imposed, reopenings } = to;
        return enter({
          state,
          lasts,
          imposed,
          reopenings,
          operated: operator ? number : operated,
        });
      }
      break;
    }
    case "undecided":
      if (record.state === "half_open" && isPresent(message.since)) {
        return enter({ state: "open", lasts: 0 });
      }
  }
  return [record, false];
}

/** The record as isolates are told it. */
export function answer(record: CircuitRecord, done: boolean, now: number): Answer {
  const { version, state, imposed, reopenings } = record;
  const timeLeft = left(record, now);
  return { version, snapshot: { state, timeLeft, imposed, consecutive: 0, reopenings }, done };
}
