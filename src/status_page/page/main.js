// The page: what the server says, what somebody wants to see of it, and what they do.

import { Question, offered } from "./actions.js";
import { PAGE, arrange, pageOf } from "./arrange.js";
import { Circuits, title } from "./circuits.js";
import { byId, make, mark, say } from "./dom.js";
import { Feed } from "./feed.js";
import { List } from "./list.js";
import { icon } from "./rows.js";
import { NAMES, STATES, count, counted, long } from "./words.js";

/** @typedef {import("./arrange.js").Arranged} Arranged */
/** @typedef {import("./arrange.js").Sort} Sort */
/** @typedef {import("./arrange.js").View} View */
/** @typedef {import("./circuits.js").Circuit} Circuit */
/** @typedef {import("./details.js").Detail} Detail */
/** @typedef {import("./words.js").State} State */

/** Where the page's own addresses are below. */
const ROOT = new URL("..", import.meta.url);

const OLD = 5000;

/** What rows show, and whom they tell of what is done. */
export class Shown {
  circuits = new Circuits();
  /** @type {View} */
  view = { text: "", state: null, sort: "state", whole: new Set() };
  /** The circuits that are opened, by name and key: those are the same after the server started anew. */
  #open = new Set();
  #page = 0;
  /** @type {number | null} By this clock, when the server was heard last. */
  #heard = null;
  #offset = 0;
  #lost = "";
  /** @type {ReturnType<typeof offered>} */
  actions = [];
  #list = new List(byId("list", HTMLElement), this);
  #feed = new Feed(location.pathname, {
    seen: () => this.circuits.seen,
    said: (said) => this.#said(said),
    lost: (why) => this.#isLost(why),
  });
  #question = new Question(new URL("actions", ROOT), (what) => {
    say(byId("news", HTMLElement), what);
    void this.#feed.now();
  });

  get seconds() {
    return this.circuits.latest?.rates_seconds ?? 0;
  }

  /** The server's time; it stands still while the server isn't heard. */
  get now() {
    return (this.#lost ? (this.#heard ?? 0) : Date.now()) + this.#offset;
  }

  start() {
    this.#restore();
    this.#controls();
    setInterval(() => this.#tick(), 1000);
    void this.#feed.start();
  }

  /** @param {Circuit} circuit */
  isOpen(circuit) {
    return this.#open.has(lasting(circuit));
  }

  /** @param {Circuit} circuit */
  toggle(circuit) {
    const name = lasting(circuit);
    if (!this.#open.delete(name)) this.#open.add(name);
    this.#show();
  }

  /** @param {string} name */
  toggleWhole(name) {
    if (!this.view.whole.delete(name)) this.view.whole.add(name);
    this.#show();
  }

  /** @param {Circuit} circuit */
  breaker(circuit) {
    return this.circuits.breakers.get(circuit.breaker);
  }

  /**
   * @param {string} id
   * @returns {Promise<Detail | null>}
   */
  async detail(id) {
    try {
      const signal = AbortSignal.timeout(15_000);
      const response = await fetch(new URL(`circuits/${id}`, ROOT), { signal });
      return response.ok ? /** @type {Detail} */ (await response.json()) : null;
    } catch {
      return null;
    }
  }

  /**
   * @param {string} action
   * @param {Circuit} circuit
   */
  ask(action, circuit) {
    this.#question.ask(action, circuit, this.circuits.latest?.process ?? "");
  }

  /** @param {import("./circuits.js").Document} said */
  #said(said) {
    const changed = this.circuits.take(said);
    this.#heard = Date.now();
    this.#offset = said.now - this.#heard;
    this.#lost = "";
    this.actions = offered(said.actions);
    this.#announce(changed);
    this.#show();
    this.#tick();
  }

  /** @param {string} why */
  #isLost(why) {
    this.#lost = why;
    this.#tick();
  }

  /** Says what happened to those who don't see it. @param {Circuit[]} changed */
  #announce(changed) {
    if (changed.length === 0) return;
    const told = changed.slice(0, 3).map((circuit) => {
      return `${title(circuit)}: ${circuit.why ?? NAMES[circuit.state].toLowerCase()}`;
    });
    const more = changed.length - told.length;
    if (more > 0) told.push(`and ${counted(more, "other")} changed`);
    say(byId("news", HTMLElement), `${told.join(". ")}.`);
  }

  #show() {
    const arranged = arrange(this.circuits, this.view);
    const pages = Math.max(1, Math.ceil(arranged.lines.length / PAGE));
    this.#page = Math.min(this.#page, pages - 1);
    this.#list.show(pageOf(arranged.lines, this.#page), this.now);
    this.#states(arranged.states);
    this.#found(arranged, pages);
  }

  /**
   * @param {Arranged} arranged
   * @param {number} pages
   */
  #found(arranged, pages) {
    const { found, all } = arranged;
    const open = [...this.circuits.known.values()].filter(
      ({ circuit }) => circuit.state === "open",
    );
    const name = this.circuits.latest?.title ?? "";
    say(byId("title", HTMLElement), name);
    document.title = open.length > 0 ? `(${open.length} open) ${name}` : name;
    const of =
      found === all ? counted(all, "circuit") : `${count(found)} of ${counted(all, "circuit")}`;
    say(byId("found", HTMLElement), of);
    const rates = this.seconds === 0 ? "" : `Numbers are of the last ${this.seconds} s.`;
    say(byId("span", HTMLElement), rates);
    const none = byId("none", HTMLElement);
    none.hidden = found > 0;
    say(none, all === 0 ? NONE_YET : "No circuit is found. Escape clears the search.");
    byId("pages", HTMLElement).hidden = pages === 1;
    say(byId("page", HTMLElement), `Page ${this.#page + 1} of ${pages}`);
    byId("previous", HTMLButtonElement).disabled = this.#page === 0;
    byId("next", HTMLButtonElement).disabled = this.#page === pages - 1;
  }

  /** @param {Map<State, number>} states */
  #states(states) {
    const group = byId("states", HTMLElement);
    if (group.childElementCount === 0) {
      for (const state of STATES) {
        const button = make("button", { type: "button", class: "chip", "data-state": state });
        button.append(icon(state), make("b", {}), ` ${NAMES[state]}`);
        button.addEventListener("click", () => {
          this.view.state = this.view.state === state ? null : state;
          this.#viewed();
        });
        group.append(button);
      }
    }
    for (const button of group.children) {
      const state = /** @type {State} */ (button.getAttribute("data-state"));
      const many = states.get(state) ?? 0;
      const number = button.querySelector("b");
      if (number) say(number, count(many));
      mark(button, "aria-pressed", String(this.view.state === state));
      mark(button, "data-none", String(many === 0));
    }
  }

  #tick() {
    const now = this.now;
    const age = this.#heard === null ? null : Date.now() - this.#heard;
    const state = this.#lost ? "lost" : this.#heard === null ? "waiting" : "live";
    mark(document.body, "data-feed", state);
    const feed = byId("feed", HTMLElement);
    say(feed, { lost: "Connection lost", waiting: "Connecting", live: "Live" }[state]);
    const old = age !== null && (this.#lost !== "" || age > OLD);
    say(byId("age", HTMLElement), old ? `· what you see is ${long(age)} old` : "");
    const lost = byId("lost", HTMLElement);
    lost.hidden = this.#lost === "";
    say(lost, this.#lost && `${this.#lost} Trying again.`);
    this.#list.tick(now);
  }

  #controls() {
    const text = byId("text", HTMLInputElement);
    const sort = byId("sort", HTMLSelectElement);
    text.value = this.view.text;
    sort.value = this.view.sort;
    text.addEventListener("input", () => {
      this.view.text = text.value;
      this.#viewed();
    });
    sort.addEventListener("change", () => {
      this.view.sort = /** @type {Sort} */ (sort.value);
      this.#viewed();
    });
    byId("search", HTMLFormElement).addEventListener("submit", (event) => event.preventDefault());
    byId("previous", HTMLButtonElement).addEventListener("click", () => this.#turn(-1));
    byId("next", HTMLButtonElement).addEventListener("click", () => this.#turn(1));
    document.addEventListener("keydown", (event) => {
      if (byId("ask", HTMLDialogElement).open) return;
      const typing = event.target instanceof HTMLInputElement;
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        text.focus();
        text.select();
      } else if (event.key === "Escape" && (this.view.text !== "" || this.view.state !== null)) {
        this.view.text = text.value = "";
        this.view.state = null;
        this.#viewed();
      }
    });
  }

  /** @param {number} step */
  #turn(step) {
    this.#page += step;
    this.#show();
    byId("list", HTMLElement).focus({ preventScroll: true });
    byId("found", HTMLElement).scrollIntoView();
  }

  /** What somebody wants to see is another: from its first page on, and kept in the address. */
  #viewed() {
    this.#page = 0;
    const { text, state, sort } = this.view;
    const kept = new URLSearchParams();
    if (text) kept.set("q", text);
    if (state) kept.set("state", state);
    if (sort !== "state") kept.set("sort", sort);
    const fragment = kept.toString();
    history.replaceState(null, "", fragment ? `#${fragment}` : location.pathname + location.search);
    this.#show();
  }

  #restore() {
    const kept = new URLSearchParams(location.hash.slice(1));
    const state = kept.get("state");
    const sort = kept.get("sort");
    this.view.text = kept.get("q") ?? "";
    this.view.state = STATES.find((known) => known === state) ?? null;
    const sorts = [...byId("sort", HTMLSelectElement).options].map(({ value }) => value);
    if (sort && sorts.includes(sort)) this.view.sort = /** @type {Sort} */ (sort);
  }
}

/** What a circuit is known by for longer than the server runs. @param {Circuit} circuit */
function lasting({ breaker, key }) {
  return JSON.stringify([breaker, key]);
}

const NONE_YET = "There is no circuit yet: a breaker is listed from its first call on.";

new Shown().start();
