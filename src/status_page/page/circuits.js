// What is known of the circuits: the JSON of the page's address, and what changed since.

import { plain } from "./words.js";

/** @typedef {import("./words.js").State} State */

/**
 * @typedef {object} Rates
 * @property {number} calls
 * @property {number} failed
 * @property {number} refused
 * @property {number} stale
 */

/**
 * What a circuit in shadow would have done.
 * @typedef {object} Would
 * @property {number} opened
 * @property {number} refused
 * @property {number | null} last
 * @property {string | null} why
 */

/**
 * @typedef {object} Circuit
 * @property {string} id
 * @property {string} breaker
 * @property {string | null} key
 * @property {State} state
 * @property {number} generation
 * @property {number | null} since
 * @property {string | null} why
 * @property {string | null} trigger
 * @property {string | null} by
 * @property {number | null} next_probe
 * @property {number} failures
 * @property {number} reopenings
 * @property {Would | null} would
 * @property {[number, State][]} recent
 * @property {Rates} rates
 */

/** @typedef {Record<string, number | string | null>} Settings */

/**
 * @typedef {object} Breaker
 * @property {string} name
 * @property {string} place
 * @property {number | null} max_keys
 * @property {Settings} settings
 * @property {Settings | null} declared
 */

/**
 * @typedef {object} Document
 * @property {number} format
 * @property {string} title
 * @property {string} process
 * @property {number} version
 * @property {number} now
 * @property {boolean} complete
 * @property {number} refresh_ms
 * @property {number} rates_seconds
 * @property {string[]} actions
 * @property {Breaker[]} breakers
 * @property {(Circuit | { id: string, rates: Rates })[]} circuits
 * @property {string[]} gone
 */

/**
 * A circuit, with what is looked at often.
 * @typedef {object} Known
 * @property {Circuit} circuit
 * @property {string} text What a search looks at.
 * @property {number} rank Its place by name.
 */

const COLLATOR = new Intl.Collator("en", { numeric: true });

/** What a circuit is called in a sentence. @param {Circuit} circuit */
export function title(circuit) {
  const name = plain(circuit.breaker);
  return circuit.key === null ? name : `${name}[${plain(circuit.key)}]`;
}

export class Circuits {
  /** @type {Map<string, Known>} */
  known = new Map();
  /** @type {Map<string, Breaker>} */
  breakers = new Map();
  /** @type {Document | null} */
  latest = null;

  /** What the server has to know to say only what changed. @returns {string | null} */
  get seen() {
    return this.latest && `${this.latest.process}.${this.latest.version}`;
  }

  /**
   * Takes in what the server said, and gives the circuits that are in another state than before.
   * @param {Document} said
   * @returns {Circuit[]}
   */
  take(said) {
    const first = this.latest === null || this.latest.process !== said.process;
    this.latest = said;
    const before = this.known;
    if (said.complete) {
      this.known = new Map();
      this.breakers = new Map();
    }
    for (const breaker of said.breakers) this.breakers.set(breaker.name, breaker);
    let ranks = said.complete;
    /** @type {Circuit[]} */
    const changed = [];
    for (const told of said.circuits) {
      const known = before.get(told.id);
      if (!("state" in told)) {
        if (known) known.circuit = { ...known.circuit, rates: told.rates };
        continue;
      }
      if (!first && (known ? known.circuit.state !== told.state : told.state !== "closed")) {
        changed.push(told);
      }
      if (known && !said.complete) {
        known.circuit = told;
      } else {
        const text = title(told).toLowerCase();
        this.known.set(told.id, { circuit: told, text, rank: 0 });
        ranks = true;
      }
    }
    this.#forget(said.gone);
    if (ranks) this.#rank();
    return changed;
  }

  /**
   * Of a breaker without keys nothing is kept when its circuit has left: such come and go.
   * @param {string[]} gone
   */
  #forget(gone) {
    /** @type {Set<string>} */
    const left = new Set();
    for (const id of gone) {
      const known = this.known.get(id);
      if (known?.circuit.key === null) left.add(known.circuit.breaker);
      this.known.delete(id);
    }
    if (left.size === 0) return;
    // Another one may have its name by now.
    for (const { circuit } of this.known.values()) left.delete(circuit.breaker);
    for (const name of left) {
      if (this.breakers.get(name)?.max_keys === null) this.breakers.delete(name);
    }
  }

  /** Comparing names takes long: it is done once, and not each time the order changes. */
  #rank() {
    const all = [...this.known.values()];
    all.sort((one, other) => COLLATOR.compare(one.text, other.text));
    all.forEach((known, place) => {
      known.rank = place;
    });
  }
}
