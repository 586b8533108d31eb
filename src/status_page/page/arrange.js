// Which lines the list has, and in which order: keys stand below their breaker.

import { severity } from "./words.js";

/** @typedef {import("./circuits.js").Circuit} Circuit */
/** @typedef {import("./circuits.js").Circuits} Circuits */
/** @typedef {import("./circuits.js").Known} Known */
/** @typedef {import("./circuits.js").Rates} Rates */
/** @typedef {import("./words.js").State} State */

/** @typedef {"state" | "name" | "since" | "calls" | "failed" | "refused"} Sort */

/**
 * What somebody wants to see.
 * @typedef {object} View
 * @property {string} text
 * @property {State | null} state
 * @property {Sort} sort
 * @property {Set<string>} whole Breakers of which all keys are shown.
 */

/** @typedef {{ kind: "circuit", id: string, circuit: Circuit, inGroup: boolean }} CircuitLine */
/**
 * @typedef {object} GroupLine
 * @property {"group"} kind
 * @property {string} id
 * @property {string} name
 * @property {Map<State, number>} states
 * @property {number} keys
 * @property {Rates} rates
 * @property {boolean | null} whole Whether all keys are shown; null where that can't be chosen.
 * @property {number} shown
 */
/** @typedef {CircuitLine | GroupLine} Line */

/**
 * @typedef {object} Arranged
 * @property {Line[]} lines
 * @property {number} found Circuits that were looked for.
 * @property {number} all
 * @property {Map<State, number>} states Of all circuits that the text finds.
 */

/** So many keys that aren't closed are shown of a breaker without being asked for. */
const UNASKED = 5;

/** Lines of a page. */
export const PAGE = 100;

/** @type {Record<Sort, (rates: Rates) => number>} */
const WEIGHTS = {
  state: () => 0,
  name: () => 0,
  since: () => 0,
  calls: (rates) => rates.calls,
  failed: (rates) => (rates.calls === 0 ? -1 : rates.failed / rates.calls),
  refused: (rates) => rates.refused,
};

/** @param {Circuit} circuit */
function sinceOf(circuit) {
  return circuit.since ?? 0;
}

/**
 * @param {Sort} sort
 * @returns {(one: Known, other: Known) => number}
 */
function comparing(sort) {
  /** @type {(one: Known, other: Known) => number} */
  const byState = (one, other) =>
    severity(one.circuit.state) - severity(other.circuit.state) ||
    sinceOf(other.circuit) - sinceOf(one.circuit) ||
    one.rank - other.rank;
  switch (sort) {
    case "name":
      return (one, other) => one.rank - other.rank;
    case "since":
      return (one, other) => sinceOf(other.circuit) - sinceOf(one.circuit) || one.rank - other.rank;
    case "state":
      return byState;
    default: {
      const weight = WEIGHTS[sort];
      return (one, other) =>
        weight(other.circuit.rates) - weight(one.circuit.rates) || byState(one, other);
    }
  }
}

/**
 * @param {Circuits} circuits
 * @param {View} view
 * @returns {Arranged}
 */
export function arrange(circuits, view) {
  const words = view.text.toLowerCase().split(/\s+/).filter(Boolean);
  /** @type {Map<State, number>} */
  const states = new Map();
  /** @type {Map<string, Known[]>} */
  const groups = new Map();
  let found = 0;
  for (const known of circuits.known.values()) {
    if (!words.every((word) => known.text.includes(word))) continue;
    const { breaker, state } = known.circuit;
    states.set(state, (states.get(state) ?? 0) + 1);
    if (view.state !== null && state !== view.state) continue;
    found += 1;
    const group = groups.get(breaker);
    if (group) group.push(known);
    else groups.set(breaker, [known]);
  }
  const compare = comparing(view.sort);
  const asked = words.length > 0 || view.state !== null;
  const blocks = [...groups].map(([name, members]) => {
    const keyed = circuits.breakers.get(name)?.max_keys != null;
    members.sort(compare);
    return block(name, members, keyed, asked ? null : view.whole.has(name));
  });
  blocks.sort((one, other) => compare(one.leader, other.leader));
  return { lines: blocks.flatMap(({ lines }) => lines), found, all: circuits.known.size, states };
}

/**
 * The lines of a breaker, and what its place in the list goes by.
 * @param {string} name
 * @param {Known[]} members
 * @param {boolean} keyed
 * @param {boolean | null} whole
 * @returns {{ leader: Known, lines: Line[] }}
 */
function block(name, members, keyed, whole) {
  const [first] = members;
  if (!first) throw new Error("a breaker without circuits isn't in the list");
  if (!keyed) {
    const { circuit } = first;
    return { leader: first, lines: [{ kind: "circuit", id: circuit.id, circuit, inGroup: false }] };
  }
  const rates = { calls: 0, failed: 0, refused: 0, stale: 0 };
  /** @type {Map<State, number>} */
  const states = new Map();
  for (const { circuit } of members) {
    rates.calls += circuit.rates.calls;
    rates.failed += circuit.rates.failed;
    rates.refused += circuit.rates.refused;
    rates.stale += circuit.rates.stale;
    states.set(circuit.state, (states.get(circuit.state) ?? 0) + 1);
  }
  let shown = members;
  if (whole === false) {
    shown = members.filter(({ circuit }) => circuit.state !== "closed").slice(0, UNASKED);
  }
  const few = whole !== null && members.length === shown.length && !whole;
  /** @type {GroupLine} */
  const group = {
    kind: "group",
    id: `group ${name}`,
    name,
    states,
    keys: members.length,
    rates,
    whole: few ? null : whole,
    shown: shown.length,
  };
  const keys = shown.map(
    ({ circuit }) =>
      /** @type {CircuitLine} */ ({ kind: "circuit", id: circuit.id, circuit, inGroup: true }),
  );
  return {
    leader: { ...first, circuit: { ...first.circuit, rates } },
    lines: [group, ...keys],
  };
}

/**
 * The lines of one page. One that begins within a breaker's keys says which.
 * @param {Line[]} lines
 * @param {number} page
 * @returns {Line[]}
 */
export function pageOf(lines, page) {
  const start = page * PAGE;
  const shown = lines.slice(start, start + PAGE);
  const [first] = shown;
  if (first?.kind === "circuit" && first.inGroup) {
    const group = lines.slice(0, start).findLast(({ kind }) => kind === "group");
    if (group) shown.unshift(group);
  }
  return shown;
}
