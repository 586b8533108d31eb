// The lines of the list: each is made once, and then kept up to date.

import { make, mark, say, svg } from "./dom.js";
import { Details } from "./details.js";
import { drawStrip, strip } from "./timeline.js";
import {
  NAMES,
  NOTHING,
  STATES,
  because,
  counted,
  long,
  perSecond,
  plain,
  sentence,
  share,
} from "./words.js";

/** @typedef {import("./arrange.js").CircuitLine} CircuitLine */
/** @typedef {import("./arrange.js").GroupLine} GroupLine */
/** @typedef {import("./circuits.js").Circuit} Circuit */
/** @typedef {import("./circuits.js").Rates} Rates */
/** @typedef {import("./main.js").Shown} Shown */
/** @typedef {import("./words.js").State} State */

/**
 * The shape that a state has beside its colour.
 * @type {Record<State, string>}
 */
const SHAPES = {
  closed: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM5.2 8.2l2 2 3.6-4.2",
  open: "M8 1.8 14.6 13.6H1.4zM8 6.2v3.4M8 11.4v.6",
  half_open: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM8 2.5v11M9.9 4.5v7M11.6 6v4",
  forced_open: "M3.5 7.5h9v6h-9zM5.5 7.5v-2a2.5 2.5 0 0 1 5 0v2",
  disabled: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM4.2 11.8l7.6-7.6",
  shadow:
    "M1.5 8s2.4-4.2 6.5-4.2S14.5 8 14.5 8 12.1 12.2 8 12.2 1.5 8 1.5 8zM8 6.4a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2z",
};

/** @param {State} state */
export function icon(state) {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" },
    svg("path", { d: SHAPES[state] }),
  );
}

/** What the last minute's calls came to, in four cells. */
class Numbers {
  #calls = make("span", { class: "number calls" });
  #failed = make("span", { class: "number failed" });
  #refused = make("span", { class: "number refused" });
  #stale = make("span", { class: "number stale" });
  element = make(
    "span",
    { class: "numbers" },
    ...[this.#calls, " ", this.#failed, " ", this.#refused, " ", this.#stale],
  );

  /**
   * @param {Rates} rates
   * @param {number} seconds
   */
  update(rates, seconds) {
    cell(this.#calls, perSecond(rates.calls, seconds), "calls");
    cell(this.#failed, share(rates.failed, rates.calls), "failed");
    cell(this.#refused, perSecond(rates.refused, seconds), "refused");
    cell(this.#stale, perSecond(rates.stale, seconds), "stale");
    mark(this.#failed, "data-some", String(rates.failed > 0));
    mark(this.#refused, "data-some", String(rates.refused > 0));
  }
}

/**
 * A number with its unit, which is seen where there are no headings.
 * @param {Element} element
 * @param {string} value
 * @param {string} what
 */
function cell(element, value, what) {
  if (element.firstElementChild === null) {
    element.append(make("span", { class: "value" }), make("span", { class: "what" }, ` ${what}`));
  }
  const [shown] = element.children;
  if (shown) say(shown, value);
  mark(element, "data-none", String(value === NOTHING));
}

/**
 * Since when a circuit is in its state, as far as that was seen.
 * @param {Circuit} circuit
 * @param {number} now
 */
export function lasting(circuit, now) {
  if (circuit.since !== null) return long(now - circuit.since);
  const [first] = circuit.recent;
  return first ? `over ${long(now - first[0])}` : NOTHING;
}

/**
 * When the next probe is admitted.
 * @param {Circuit} circuit
 * @param {number} now
 */
export function probing(circuit, now) {
  if (circuit.next_probe === null) return "";
  const left = circuit.next_probe - now;
  return left > 0 ? `probe in ${long(left + 999)}` : "probe is due";
}

export class CircuitRow {
  #icon = make("span", { class: "badge" });
  #state = /** @type {State | null} */ (null);
  #name = make("span", { class: "name" });
  #why = make("span", { class: "why" });
  #lasting = make("span", { class: "lasting" });
  #probe = make("span", { class: "probe" });
  #numbers = new Numbers();
  #strip = strip();
  #drawn = "";
  /** @type {Details | null} */
  #details = null;
  button;
  element;

  /**
   * @param {CircuitLine} line
   * @param {Shown} shown
   */
  constructor(line, shown) {
    this.shown = shown;
    this.circuit = line.circuit;
    const time = make("span", { class: "time" }, this.#lasting, " ", this.#probe);
    const what = make("span", { class: "what-it-is" }, this.#name, " ", this.#why);
    this.button = make(
      "button",
      { type: "button", class: "row", "aria-expanded": "false" },
      this.#icon,
      what,
      time,
      this.#numbers.element,
      make("span", { class: "past" }, this.#strip),
    );
    this.button.addEventListener("click", () => shown.toggle(this.circuit));
    this.element = make("li", { class: "circuit", "data-id": line.id }, this.button);
  }

  /**
   * @param {CircuitLine} line
   * @param {number} now
   */
  update(line, now) {
    const { circuit } = line;
    this.circuit = circuit;
    mark(this.element, "data-state", circuit.state);
    mark(this.element, "data-in-group", String(line.inGroup));
    if (this.#state !== circuit.state) {
      this.#state = circuit.state;
      this.#icon.replaceChildren(icon(circuit.state), make("span", {}, NAMES[circuit.state]));
    }
    const name = plain(line.inGroup ? (circuit.key ?? "") : circuit.breaker);
    say(this.#name, name);
    mark(this.#name, "data-empty", String(name.trim() === ""));
    say(this.#why, reason(circuit));
    this.#numbers.update(circuit.rates, this.shown.seconds);
    this.tick(now);
    const open = this.shown.isOpen(circuit);
    mark(this.button, "aria-expanded", String(open));
    if (open) {
      this.#details ??= this.#opened(circuit);
      this.#details.update(circuit, now);
    } else if (this.#details) {
      this.#details.element.remove();
      this.#details = null;
    }
  }

  /** @param {Circuit} circuit */
  #opened(circuit) {
    const details = new Details(circuit, this.shown);
    this.element.append(details.element);
    return details;
  }

  /** What changes with time alone. @param {number} now */
  tick(now) {
    const { circuit } = this;
    say(this.#lasting, lasting(circuit, now));
    say(this.#probe, probing(circuit, now));
    // A strip moves by a pixel in some seconds, and few have anything to move.
    const drawn = `${circuit.generation} ${circuit.recent.length} ${Math.floor(now / 5000)}`;
    if (this.#drawn !== drawn) {
      this.#drawn = drawn;
      drawStrip(this.#strip, circuit.recent, now);
    }
    this.#details?.tick(now);
  }
}

/** Why a circuit is as it is, in a line. @param {Circuit} circuit */
function reason(circuit) {
  const { would } = circuit;
  if (would?.why) return sentence(would.why);
  if (circuit.why !== null) return because(circuit.state, circuit.why, circuit.by);
  if (circuit.failures > 0) return `${sentence(counted(circuit.failures, "failure"))} in a row`;
  return "";
}

export class GroupRow {
  #name = make("span", { class: "name" });
  #states = make("span", { class: "why" });
  #badge = make("span", { class: "badge" });
  #worst = /** @type {State | null} */ (null);
  #numbers = new Numbers();
  #what = make("span", {});
  button;
  element;

  /**
   * @param {GroupLine} line
   * @param {Shown} shown
   */
  constructor(line, shown) {
    this.shown = shown;
    this.name = line.name;
    this.button = make("button", { type: "button", class: "whole" }, this.#what);
    this.button.addEventListener("click", () => shown.toggleWhole(this.name));
    this.element = make(
      "li",
      { class: "group", "data-id": line.id },
      make(
        "div",
        { class: "row" },
        this.#badge,
        make("span", { class: "what-it-is" }, this.#name, " ", this.#states),
        make("span", { class: "time" }),
        this.#numbers.element,
        make("span", { class: "past" }, this.button),
      ),
    );
  }

  /** @param {GroupLine} line */
  update(line) {
    const worst = STATES.find((state) => line.states.has(state)) ?? "closed";
    mark(this.element, "data-state", worst);
    if (this.#worst !== worst) {
      this.#worst = worst;
      this.#badge.replaceChildren(icon(worst), make("span", {}, NAMES[worst]));
    }
    const name = plain(line.name);
    say(this.#name, name);
    mark(this.#name, "data-empty", String(name.trim() === ""));
    const parts = STATES.filter((state) => line.states.has(state)).map((state) => {
      const many = line.states.get(state) ?? 0;
      return many === line.keys && state === "closed"
        ? "all closed"
        : `${counted(many, NAMES[state].toLowerCase(), NAMES[state].toLowerCase())}`;
    });
    say(this.#states, `${counted(line.keys, "key")}: ${parts.join(", ")}`);
    this.#numbers.update(line.rates, this.shown.seconds);
    this.button.hidden = line.whole === null;
    mark(this.button, "aria-expanded", String(line.whole === true));
    const verb = line.whole === true ? "Show fewer keys" : "Show all keys";
    say(this.#what, verb);
    mark(this.button, "aria-label", `${verb} of ${name}`);
  }

  tick() {}
}
