/** A number that is set by a slider, or exactly in the field beside it. */

import { make } from "./dom.js";

export interface NumberControl {
  readonly id: string;
  readonly label: string;
  /** How it is written in code. */
  readonly name?: string;
  readonly hint?: string;
  readonly unit?: string;
  /** What the slider reaches; the field takes anything, and whoever hears of it judges. */
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

export class NumberInput {
  readonly element: HTMLElement;
  readonly #slider: HTMLInputElement;
  readonly #field: HTMLInputElement;
  readonly #error: HTMLElement;
  readonly #unit: HTMLElement;

  constructor(
    { id, label, name, hint, unit, min, max, step }: NumberControl,
    value: number,
    changed: (value: number) => void,
  ) {
    this.#slider = make("input", { type: "range", min, max, step, "aria-label": label });
    this.#field = make("input", { type: "number", id, step: "any", inputmode: "decimal" });
    this.#error = make("p", { class: "error", id: `${id}-error`, "aria-live": "polite" });
    this.#unit = make("span", { class: "unit", "aria-hidden": "true" }, unit ?? "");
    const described = [`${id}-error`];
    const title = make("label", { for: id }, label);
    const row = make(
      "div",
      { class: "number" },
      title,
      make("span", { class: "exact" }, this.#field, this.#unit),
      this.#slider,
    );
    if (name !== undefined) {
      described.push(`${id}-hint`);
      const more = hint === undefined ? "" : `: ${hint}`;
      row.append(make("p", { class: "hint", id: `${id}-hint` }, make("code", {}, name), more));
    }
    row.append(this.#error);
    this.#field.setAttribute("aria-describedby", described.join(" "));
    this.element = row;
    this.set(value);
    this.#slider.addEventListener("input", () => {
      this.#field.value = this.#slider.value;
      changed(this.#slider.valueAsNumber);
    });
    this.#field.addEventListener("input", () => {
      const exact = this.#field.valueAsNumber;
      if (Number.isFinite(exact)) {
        this.#slider.value = String(exact);
      }
      changed(exact);
    });
  }

  set(value: number): void {
    this.#slider.value = String(value);
    this.#field.value = String(value);
  }

  set unit(unit: string) {
    this.#unit.textContent = unit;
  }

  set shown(shown: boolean) {
    this.element.hidden = !shown;
  }

  /** Says at the control what is wrong with it. */
  set error(text: string) {
    this.#field.setAttribute("aria-invalid", String(text !== ""));
    if (this.#error.textContent !== text) {
      this.#error.textContent = text;
    }
  }
}
