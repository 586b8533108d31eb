/** What the dependency does: chosen by hand, or by a script that is shown as it goes on. */

import { BEHAVIOURS, type Dependency, KINDS, SCRIPT } from "./dependency.js";
import { byId, make, mark, say, within } from "./dom.js";

export class Behaviours {
  readonly #script = make("div", { class: "script", "aria-hidden": "true" });
  readonly #marker = make("i");

  constructor(
    readonly dependency: Dependency,
    chosen: () => void,
  ) {
    const group = byId("behaviours");
    const add = (value: (typeof BEHAVIOURS)[number] | "scripted", label: string, does: string) => {
      const radio = make("input", { type: "radio", name: "behaviour", value });
      radio.checked = value === "scripted";
      radio.addEventListener("change", () => {
        dependency.be(value);
        chosen();
      });
      const words = make("span", {}, make("b", {}, label), " ", make("small", {}, does));
      const made = make("label", { "data-behaviour": value }, radio, words);
      group.append(made);
      return made;
    };
    const scripted = add("scripted", "Scripted outage", "over and over");
    for (const { is, seconds } of SCRIPT) {
      const part = make("span", {
        style: `flex-grow: ${seconds}`,
        "data-trouble": String(KINDS[is].trouble),
      });
      part.append(KINDS[is].label.toLowerCase());
      this.#script.append(part);
    }
    this.#script.append(this.#marker);
    scripted.append(this.#script);
    for (const behaviour of BEHAVIOURS) {
      add(behaviour, KINDS[behaviour].label, KINDS[behaviour].does);
    }
  }

  draw(): void {
    const { behaviour, scripted, place } = this.dependency;
    const health = byId("health");
    mark(document.body, "data-behaviour", behaviour);
    mark(document.body, "data-trouble", String(KINDS[behaviour].trouble));
    say(within(health, "b"), `${KINDS[behaviour].label}: ${KINDS[behaviour].does}`);
    this.#marker.hidden = !scripted;
    mark(this.#marker, "style", `left: ${(place.share * 100).toFixed(1)}%`);
  }
}
