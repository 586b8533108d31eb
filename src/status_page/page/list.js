// The list as it is shown: elements are kept as long as their line is, so that the focus stays.

import { CircuitRow, GroupRow } from "./rows.js";

/** @typedef {import("./arrange.js").Line} Line */
/** @typedef {import("./main.js").Shown} Shown */

export class List {
  /** @type {Map<string, CircuitRow | GroupRow>} */
  #rows = new Map();

  /**
   * @param {HTMLElement} element
   * @param {Shown} shown
   */
  constructor(element, shown) {
    this.element = element;
    this.shown = shown;
    element.addEventListener("keydown", (event) => this.#key(event));
  }

  /**
   * @param {Line[]} lines
   * @param {number} now
   */
  show(lines, now) {
    const focused = document.activeElement;
    /** @type {Map<string, CircuitRow | GroupRow>} */
    const rows = new Map();
    /** @type {Element | null} */
    let next = this.element.firstElementChild;
    for (const line of lines) {
      const row = this.#rows.get(line.id) ?? this.#made(line);
      rows.set(line.id, row);
      this.#rows.delete(line.id);
      if (row.element === next) next = next.nextElementSibling;
      else this.element.insertBefore(row.element, next);
      if (line.kind === "circuit" && row instanceof CircuitRow) row.update(line, now);
      if (line.kind === "group" && row instanceof GroupRow) row.update(line);
    }
    for (const row of this.#rows.values()) row.element.remove();
    this.#rows = rows;
    // What is moved loses the focus; what has left leaves it to the list.
    if (focused instanceof HTMLElement && focused !== document.activeElement) {
      if (focused.isConnected) focused.focus({ preventScroll: true });
      else if (document.activeElement === document.body)
        this.element.focus({ preventScroll: true });
    }
  }

  /** @param {Line} line */
  #made(line) {
    return line.kind === "group"
      ? new GroupRow(line, this.shown)
      : new CircuitRow(line, this.shown);
  }

  /** @param {number} now */
  tick(now) {
    for (const row of this.#rows.values()) row.tick(now);
  }

  /** Arrows go from row to row. @param {KeyboardEvent} event */
  #key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    if (!step || !(event.target instanceof HTMLElement)) return;
    const buttons = [...this.element.querySelectorAll("button.row")];
    const next = buttons[buttons.indexOf(event.target) + step];
    if (!event.target.matches("button.row") || !(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
  }
}
