// What is below an opened row: why, the settings, the past, and what an operator can do.

import { make, mark, say } from "./dom.js";
import { lanes } from "./timeline.js";
import { MEANINGS, NAMES, NOTHING, because, clock, counted, exactly } from "./words.js";

/** @typedef {import("./circuits.js").Breaker} Breaker */
/** @typedef {import("./circuits.js").Circuit} Circuit */
/** @typedef {import("./circuits.js").Settings} Settings */
/** @typedef {import("./main.js").Shown} Shown */
/** @typedef {import("./words.js").State} State */

/**
 * @typedef {object} Entry
 * @property {number} at
 * @property {State} from
 * @property {State} to
 * @property {number} generation
 * @property {string} why
 * @property {string | null} by
 */

/** @typedef {{ now: number, circuit: Circuit, history: Entry[] }} Detail */

/**
 * The settings in the order in which they matter, and how each is said.
 * @type {readonly (readonly [string, string, (value: number | string) => string])[]}
 */
const SETTINGS = [
  ["threshold", "Failures in a row", String],
  ["failure_rate", "Share of failures", percent],
  ["min_calls", "At least, of calls", String],
  ["window_calls", "Window", (calls) => `${calls} calls`],
  ["window_ms", "Window", time],
  ["slow_ms", "Slow from", time],
  ["slow_rate", "Share of slow calls", percent],
  ["reset_ms", "Wait", time],
  ["backoff", "Growth of the wait", (factor) => `× ${factor}`],
  ["max_reset_ms", "Longest wait", time],
  ["jitter", "Random part", percent],
  ["probes", "Probes at once", String],
  ["close_after", "Successes that close", String],
  ["close_rate", "Failures that reopen", percent],
  ["probe_timeout_ms", "Time for probes", time],
  ["on_cancel", "A dropped call", (what) => (what === "ignore" ? "doesn't count" : "is a failure")],
];

/** @param {number | string} value */
function percent(value) {
  return `${Number((Number(value) * 100).toFixed(3))} %`;
}

/** @param {number | string} value */
function time(value) {
  return exactly(Number(value));
}

export class Details {
  #facts = make("p", { class: "facts" });
  #picture = make("div", { class: "picture" });
  #past = make("ol", { class: "entries" });
  #settings = make("dl", { class: "settings" });
  #place = make("p", { class: "place" });
  #problem = make("p", { class: "note" });
  /** Which circuit's past, up to which generation, is shown or asked for. */
  #of = "";
  /** @type {Breaker | undefined} */
  #breaker;
  /** @type {Entry[]} */
  #history = [];
  /** @type {Circuit} */
  #circuit;
  #drawn = 0;
  element;

  /**
   * @param {Circuit} circuit
   * @param {Shown} shown
   */
  constructor(circuit, shown) {
    this.shown = shown;
    this.#circuit = circuit;
    const parts = [
      this.#facts,
      part("Recent states", this.#picture, this.#past, this.#problem),
      part("Settings", this.#settings, this.#place),
    ];
    if (shown.actions.length > 0) parts.splice(1, 0, this.#acting());
    this.element = make("div", { class: "details" }, ...parts);
  }

  #acting() {
    const buttons = this.shown.actions.map(({ name, label, danger }) => {
      const attributes = { type: "button", class: danger ? "act danger" : "act", "data-act": name };
      const button = make("button", attributes, label);
      button.addEventListener("click", () => this.shown.ask(name, this.#circuit));
      return button;
    });
    const group = { class: "operate", role: "group", "aria-label": "Operate this circuit" };
    return make("div", group, ...buttons);
  }

  /**
   * @param {Circuit} circuit
   * @param {number} now
   */
  update(circuit, now) {
    this.#circuit = circuit;
    const breaker = this.shown.breaker(circuit);
    if (breaker && this.#breaker !== breaker) {
      this.#breaker = breaker;
      this.#settings.replaceChildren(...settings(breaker));
      say(this.#place, `Declared at ${breaker.place}`);
    }
    const facts = [MEANINGS[circuit.state]];
    if (circuit.failures > 0) facts.push(`${counted(circuit.failures, "failure")} in a row.`);
    if (circuit.reopenings > 0) {
      facts.push(`Reopened ${counted(circuit.reopenings, "time")} since it was closed.`);
    }
    facts.push(...wouldHave(circuit, now));
    say(this.#facts, facts.join(" "));
    // A service that started anew counts both from the beginning.
    const of = `${this.shown.circuits.latest?.process} ${circuit.id} ${circuit.generation}`;
    if (this.#of !== of) {
      this.#of = of;
      void this.#load(circuit.id, of);
    }
    this.tick(now);
  }

  /**
   * @param {string} id
   * @param {string} of
   */
  async #load(id, of) {
    const loaded = await this.shown.detail(id);
    // Something newer was asked for meanwhile, and is shown in its turn.
    if (this.#of !== of) return;
    if (loaded === null) {
      // Asked for again with the next change that is seen.
      this.#of = "";
      say(this.#problem, "The past can't be loaded now.");
      return;
    }
    say(this.#problem, "");
    this.#history = loaded.history;
    const latestFirst = [...loaded.history].reverse();
    this.#past.replaceChildren(...latestFirst.map((entry) => listed(entry, loaded.now)));
    if (latestFirst.length === 0) {
      say(this.#problem, "Nothing has changed since this page began to listen.");
    }
    this.#drawn = 0;
    this.tick(this.shown.now);
  }

  /** @param {number} now */
  tick(now) {
    // The server's clock may be set back.
    if (Math.abs(now - this.#drawn) < 5000) return;
    const [first] = this.#history;
    const width = Math.floor(this.#picture.clientWidth);
    if (!first || width === 0) {
      this.#picture.replaceChildren();
      return;
    }
    this.#drawn = now;
    /** @type {[number, State][]} */
    const entered = this.#history.map(({ at, to }) => [at, to]);
    // What it was before is known too, though not since when: some of it is shown.
    const before = Math.max((now - first.at) / 12, 1000);
    entered.unshift([first.at - before, first.from]);
    this.#picture.replaceChildren(lanes(entered, now, width));
  }
}

/**
 * What a circuit in shadow would have done, in sentences.
 * @param {Circuit} circuit
 * @param {number} now
 */
function wouldHave({ would }, now) {
  if (would === null) return [];
  const told = [];
  if (would.last !== null && would.why !== null) {
    const times = would.opened > 1 ? `${counted(would.opened, "time")}, the last at` : "at";
    told.push(`It ${would.why.split(",")[0]}: ${times} ${clock(would.last, now)}.`);
  }
  if (would.refused > 0) told.push(`It would have refused ${counted(would.refused, "call")}.`);
  return told;
}

/**
 * @param {string} title
 * @param {Node[]} children
 */
function part(title, ...children) {
  return make("section", {}, make("h3", {}, title), ...children);
}

/**
 * @param {Entry} entry
 * @param {number} now
 */
function listed(entry, now) {
  const at = make("time", { datetime: new Date(entry.at).toISOString() }, clock(entry.at, now));
  const line = make("li", {}, at, " ", make("b", {}, NAMES[entry.to]), " ");
  line.append(make("span", {}, because(entry.to, entry.why, entry.by)));
  mark(line, "data-state", entry.to);
  return line;
}

/** @param {Breaker} breaker */
function settings(breaker) {
  return SETTINGS.flatMap(([name, label, said]) => {
    const value = breaker.settings[name];
    if (value === null || value === undefined) return [];
    const told = make("dd", {}, said(value));
    const declared = breaker.declared?.[name];
    if (breaker.declared && declared !== value) {
      const was = declared === null || declared === undefined ? NOTHING : said(declared);
      told.append(" ", make("span", { class: "overridden" }, `overridden, declared: ${was}`));
    }
    return [make("div", {}, make("dt", {}, label), told)];
  });
}
