/** The last changes of state, newest first; the newest is read out. */

import type { Events } from "breaker-wasm";
import { byId, make, say } from "./dom.js";
import { MEANS, STATE, seconds, why } from "./words.js";

const MOST = 8;

export class Log {
  readonly #list = byId("log");
  readonly #status = byId("status");

  constructor() {
    this.clear();
  }

  clear(): void {
    this.#list.replaceChildren(make("li", { class: "none" }, "No change of state yet."));
    say(this.#status, "");
  }

  add(now: number, change: Events["stateChange"] | Events["wouldTrip"]): void {
    const because = why(change.trigger, change.failures);
    const what =
      change.type === "wouldTrip"
        ? "would have opened"
        : `${STATE[change.from]} → ${STATE[change.to]}`;
    this.#list.querySelector(".none")?.remove();
    this.#list.prepend(
      make(
        "li",
        { "data-to": change.type === "wouldTrip" ? "shadow" : change.to },
        make("time", {}, seconds(now)),
        make("b", {}, what),
        make("span", {}, because),
      ),
    );
    while (this.#list.childElementCount > MOST) {
      this.#list.lastElementChild?.remove();
    }
    say(
      this.#status,
      change.type === "wouldTrip"
        ? `It would have opened: ${because}.`
        : `${STATE[change.to]}: ${because}. ${MEANS[change.to]}`,
    );
  }
}
