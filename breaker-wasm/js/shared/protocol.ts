/**
 * What isolates and the object say to each other, as JSON. Only durations, never a time of day: their
 * clocks have nothing in common. Both sides look at all that arrives.
 */

import { STATES } from "../names.js";
import { FIELDS, type Snapshot } from "../snapshot.js";

/** An entry into a state, of all that there were. */
export interface Version {
  /** Drawn when the object began: one that lost its storage has another. */
  readonly life: string;
  readonly number: number;
}

/** To the object. */
export type Message =
  /** How does it stand? */
  | { readonly kind: "read" }
  /** The wait is over: a lease for so many milliseconds of probing, if nobody has it. */
  | { readonly kind: "lease"; readonly time: number }
  /**
   * The circuit changed here. It counts if `since` is the present version; by an operator in any
   * case, and if it had to be told again, unless another operator did something since.
   */
  | {
      readonly kind: "changed";
      readonly to: Snapshot;
      /** `null`: the object never answered here. */
      readonly since: Version | null;
      readonly operator: boolean;
      readonly again: boolean;
    }
  /** The probe of this lease ended, and decided nothing. */
  | { readonly kind: "undecided"; readonly since: Version };

/** The object's. */
export interface Answer {
  readonly version: Version;
  /** While half-open, `timeLeft` is that of the lease. */
  readonly snapshot: Snapshot;
  /** The lease is granted; the change counts. */
  readonly done: boolean;
}

/** Longer than any message. */
const LONGEST = 4096;

const LONGEST_TIME = 2 ** 64 / 1e6;

/** Nonsense arrived. */
export class Nonsense extends Error {}

function object(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || !value || Array.isArray(value)) {
    throw new Nonsense(`${what} is no object`);
  }
  return value as Record<string, unknown>;
}

function legal<T>(value: unknown, what: string, accept: (value: any) => boolean): T {
  if (!accept(value)) {
    throw new Nonsense(`${what} is nonsense`);
  }
  return value as T;
}

const isTime = (value: unknown): boolean =>
  typeof value === "number" && value >= 0 && value < LONGEST_TIME;
const isBoolean = (value: unknown): boolean => typeof value === "boolean";

function readVersion(value: unknown, what: string): Version {
  const { life, number } = object(value, what);
  return {
    life: legal(life, `${what}.life`, (life) => typeof life === "string" && life.length <= 64),
    number: legal(number, `${what}.number`, (number) => Number.isSafeInteger(number) && number > 0),
  };
}

function readSnapshot(value: unknown, what: string): Snapshot {
  // Failures are counted by each isolate for itself.
  const given: Record<string, unknown> = { ...object(value, what), consecutive: 0 };
  const read: Record<string, unknown> = {};
  for (const [field, , accept] of FIELDS) {
    read[field] = legal(given[field], `${what}.${field}`, accept);
  }
  const lasts = read["state"] === "open" || read["state"] === "half_open";
  legal(read["timeLeft"], `${what}.timeLeft`, (left) => (lasts ? isTime(left) : left === 0));
  return read as unknown as Snapshot;
}

function parse(text: string, what: string): Record<string, unknown> {
  if (text.length > LONGEST) {
    throw new Nonsense(`${what} is too long`);
  }
  try {
    return object(JSON.parse(text), what);
  } catch (error) {
    throw error instanceof Nonsense ? error : new Nonsense(`${what} is no JSON`);
  }
}

/** A message as it arrived. Throws {@link Nonsense}. */
export function readMessage(text: string): Message {
  const { kind, time, to, since, operator, again } = parse(text, "the message");
  switch (kind) {
    case "read":
      return { kind };
    case "lease":
      return { kind, time: legal(time, "time", (time) => isTime(time) && time > 0) };
    case "undecided":
      return { kind, since: readVersion(since, "since") };
    case "changed": {
      const told = {
        kind,
        to: readSnapshot(to, "to"),
        since: since === null ? null : readVersion(since, "since"),
        operator: legal<boolean>(operator, "operator", isBoolean),
        again: legal<boolean>(again, "again", isBoolean),
      } as const;
      // Who probes has a lease; the other states are an operator's.
      const states = told.operator ? STATES.filter((state) => state !== "half_open") : BY_CALLS;
      legal(told.to.state, "to.state", (state) => states.includes(state));
      return told;
    }
    default:
      throw new Nonsense("kind is nonsense");
  }
}

/** The states that calls bring about. */
const BY_CALLS: Snapshot["state"][] = ["closed", "open"];

/** An answer as it arrived. Throws {@link Nonsense}. */
export function readAnswer(text: string): Answer {
  const { version, snapshot, done } = parse(text, "the answer");
  return {
    version: readVersion(version, "version"),
    snapshot: readSnapshot(snapshot, "snapshot"),
    done: legal(done, "done", isBoolean),
  };
}
