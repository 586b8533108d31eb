// What an operator can do, and the question before it is done.

import { title } from "./circuits.js";
import { byId, say } from "./dom.js";
import { NAMES } from "./words.js";

/** @typedef {import("./circuits.js").Circuit} Circuit */

/**
 * @typedef {object} Action
 * @property {string} name
 * @property {string} label
 * @property {string} what
 * @property {boolean} danger Whether calls are refused, or go through unguarded.
 */

/** @type {readonly Action[]} */
const ACTIONS = [
  {
    name: "close",
    label: "Close",
    what: "Calls go through again, and counting begins anew. If the dependency is still down, they fail until the circuit trips.",
    danger: false,
  },
  {
    name: "open_for",
    label: "Open for…",
    what: "Every call is refused for a time; then a probe finds out whether the dependency is back.",
    danger: true,
  },
  {
    name: "force_open",
    label: "Force open",
    what: "Every call is refused, until somebody closes the circuit. It does not probe.",
    danger: true,
  },
  {
    name: "disable",
    label: "Disable",
    what: "Every call goes through, and nothing is counted, until somebody closes the circuit. An outage is not noticed.",
    danger: true,
  },
  {
    name: "shadow",
    label: "Shadow",
    what: "Every call goes through. What the breaker would have done is reported, until somebody closes the circuit.",
    danger: true,
  },
  {
    name: "clear",
    label: "Clear",
    what: "The circuit is closed with nothing counted, and its settings are those that were declared.",
    danger: false,
  },
];

/**
 * Those that the server offers, in the order of the page.
 * @param {readonly string[]} offered
 */
export function offered(offered) {
  return ACTIONS.filter(({ name }) => offered.includes(name));
}

/** @typedef {{ error?: string, message?: string, now?: { circuit: Circuit } | null }} Refusal */

/** Asks before it acts, on what the operator saw. */
export class Question {
  #dialog = byId("ask", HTMLDialogElement);
  #form = byId("ask-form", HTMLFormElement);
  #title = byId("ask-title", HTMLElement);
  #what = byId("ask-what", HTMLElement);
  #howLong = byId("ask-how-long", HTMLElement);
  #seconds = byId("ask-seconds", HTMLSelectElement);
  #answer = byId("ask-answer", HTMLElement);
  #do = byId("ask-do", HTMLButtonElement);
  /** @type {{ action: Action, circuit: Circuit, process: string } | null} */
  #asked = null;
  #underWay = false;

  /**
   * @param {URL} address
   * @param {(what: string) => void} done
   */
  constructor(address, done) {
    this.address = address;
    this.done = done;
    byId("ask-cancel", HTMLButtonElement).addEventListener("click", () => this.#dialog.close());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#act();
    });
  }

  /**
   * @param {string} name
   * @param {Circuit} circuit
   * @param {string} process
   */
  ask(name, circuit, process) {
    const action = ACTIONS.find((action) => action.name === name);
    if (!action) return;
    this.#asked = { action, circuit, process };
    say(this.#title, `${action.label.replace("…", "")}: ${title(circuit)}?`);
    say(this.#what, action.what);
    this.#howLong.hidden = name !== "open_for";
    say(this.#answer, "");
    say(this.#do, action.label.replace("…", ""));
    this.#do.classList.toggle("danger", action.danger);
    this.#do.hidden = false;
    // The first control has the focus, which is not the one that acts.
    this.#dialog.showModal();
  }

  async #act() {
    if (!this.#asked || this.#underWay) return;
    this.#underWay = true;
    try {
      await this.#send(this.#asked);
    } finally {
      this.#underWay = false;
    }
  }

  /** @param {{ action: Action, circuit: Circuit, process: string }} asked */
  async #send(asked) {
    const { action, circuit, process } = asked;
    const order = {
      action: action.name,
      circuit: circuit.id,
      process,
      generation: circuit.generation,
      ...(action.name === "open_for" && { seconds: Number(this.#seconds.value) }),
    };
    /** @type {Response} */
    let response;
    try {
      response = await fetch(this.address, {
        method: "POST",
        headers: { "content-type": "application/json", "x-breakerbox-action": "1" },
        body: JSON.stringify(order),
        signal: AbortSignal.timeout(15_000),
      });
    } catch {
      say(this.#answer, "The server can't be reached. Whether it was done isn't known.");
      return;
    }
    if (response.ok) {
      this.#dialog.close();
      this.done(`${action.label.replace("…", "")}: ${title(circuit)}: done.`);
      return;
    }
    const refusal = /** @type {Refusal} */ (await response.json().catch(() => ({})));
    if (refusal.error === "changed" && refusal.now) {
      const now = refusal.now.circuit;
      asked.circuit = now;
      say(
        this.#answer,
        `Nothing was done: it was ${NAMES[circuit.state].toLowerCase()} when you looked, and is ${NAMES[now.state].toLowerCase()} now${now.why === null ? "" : ` (${now.why})`}.`,
      );
      say(this.#do, `${action.label.replace("…", "")} all the same`);
      return;
    }
    this.#do.hidden = true;
    say(
      this.#answer,
      `Nothing was done: ${refusal.message ?? `the server answers ${response.status}`}.`,
    );
    this.done("");
  }
}
