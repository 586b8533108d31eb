/** The states and what leads from one to another, with the present one marked. */

import type { State } from "breaker-wasm";
import { mark, say, svg } from "./dom.js";
import { type Form, duration } from "./form.js";
import type { Simulation } from "./simulation.js";
import { MEANS, STATE, percent, progress, seconds } from "./words.js";

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const BOXES: Readonly<Record<State, Box>> = {
  closed: { x: 4, y: 8, width: 122, height: 64 },
  open: { x: 234, y: 8, width: 122, height: 64 },
  half_open: { x: 119, y: 144, width: 122, height: 54 },
  forced_open: { x: 4, y: 244, width: 112, height: 30 },
  disabled: { x: 124, y: 244, width: 112, height: 30 },
  shadow: { x: 244, y: 244, width: 112, height: 30 },
};

const SUBTITLES: Partial<Record<State, string>> = {
  closed: "calls go through",
  open: "calls are refused",
  half_open: "a probe is sent",
};

/** So many pips are drawn; more failures are only a number. */
const MOST_PIPS = 10;

const text = (x: number, y: number, kind: string, ...content: string[]): SVGTextElement =>
  svg("text", { x, y, class: kind, "text-anchor": "middle" }, ...content);

export class Diagram {
  readonly #picture = svg("svg", { viewBox: "0 0 360 282", role: "img", class: "diagram" });
  readonly #title = svg("title");
  readonly #states = new Map<State, SVGGElement>();
  readonly #live = new Map<State, SVGTextElement>();
  readonly #pips = svg("g", { class: "pips" });
  readonly #left = svg("rect", { class: "left", rx: 2 });
  readonly #trips = svg("g");
  readonly #waits = text(328, 118, "edge");
  readonly #closes = svg("g");

  constructor(parent: Element) {
    const head = svg("marker", {
      id: "arrow",
      viewBox: "0 0 8 8",
      refX: 7,
      refY: 4,
      markerWidth: 7,
      markerHeight: 7,
      orient: "auto",
    });
    head.append(svg("path", { d: "M0 0 8 4 0 8Z", class: "arrowhead" }));
    this.#picture.append(this.#title, svg("defs", {}, head));
    for (const d of [
      "M128 40 H231",
      "M296 74 C296 132 280 171 244 171",
      "M204 142 C204 108 226 86 254 75",
      "M117 171 C82 171 64 132 64 75",
    ]) {
      this.#picture.append(svg("path", { d, class: "arrow", "marker-end": "url(#arrow)" }));
    }
    this.#picture.append(this.#trips, this.#waits, this.#closes);
    this.#picture.append(text(182, 118, "edge", "fails"));
    for (const state of Object.keys(BOXES) as State[]) {
      this.#picture.append(this.#box(state));
    }
    this.#picture.append(text(180, 234, "edge", "only an operator sets"));
    parent.append(this.#picture);
  }

  #box(state: State): SVGGElement {
    const { x, y, width, height } = BOXES[state];
    const middle = x + width / 2;
    const group = svg("g", {
      class: SUBTITLES[state] ? "state" : "state set",
      "data-state": state,
    });
    group.append(svg("rect", { x, y, width, height, rx: 10, class: "box" }));
    const subtitle = SUBTITLES[state];
    if (subtitle === undefined) {
      group.append(text(middle, y + 20, "name small", STATE[state]));
    } else {
      group.append(text(middle, y + 21, "name", STATE[state]));
      const live = text(middle, y + 39, "sub", subtitle);
      this.#live.set(state, live);
      group.append(live);
    }
    if (state === "closed") {
      group.append(this.#pips);
    }
    if (state === "open") {
      group.append(
        svg("rect", { x: x + 12, y: y + 49, width: width - 24, height: 5, rx: 2, class: "whole" }),
        this.#left,
      );
    }
    this.#states.set(state, group);
    return group;
  }

  /** The words beside the arrows. */
  label(form: Form): void {
    const lines =
      form.policy === "row"
        ? [`${form.threshold} failures`, "in a row"]
        : [`${percent(form.failureRate)} of`, "calls fail"];
    this.#trips.replaceChildren(text(180, 32, "edge", lines[0]!), text(180, 56, "edge", lines[1]!));
    say(this.#waits, `after ${duration(form.reset)}`);
    const probes =
      form.closeAfter === 1 ? ["probe", "succeeds"] : [`${form.closeAfter} probes`, "succeed"];
    this.#closes.replaceChildren(
      text(112, 104, "edge", probes[0]!),
      text(112, 118, "edge", probes[1]!),
    );
  }

  draw(simulation: Simulation): void {
    const { state, form } = simulation;
    for (const [each, group] of this.#states) {
      mark(group, "data-now", String(each === state));
    }
    say(this.#title, `${STATE[state]}: ${MEANS[state]} ${progress(simulation)}.`);
    const { consecutive, timeLeft } = simulation.snapshot;
    this.#drawPips(state === "closed" && form.policy === "row" ? form.threshold : 0, consecutive);
    const { x, y, width } = BOXES.open;
    const share = state === "open" && simulation.wait > 0 ? timeLeft / simulation.wait : 0;
    mark(this.#left, "x", String(x + 12));
    mark(this.#left, "y", String(y + 49));
    mark(this.#left, "height", "5");
    mark(this.#left, "width", ((width - 24) * Math.min(1, share)).toFixed(1));
    this.#tell(
      "open",
      state === "open"
        ? timeLeft > 0
          ? `probe in ${seconds(timeLeft)}`
          : "next call: a probe"
        : undefined,
    );
    this.#tell(
      "half_open",
      state === "half_open" ? `${simulation.probed} of ${form.closeAfter} succeeded` : undefined,
    );
    this.#tell(
      "closed",
      state === "closed" && form.policy === "row"
        ? `${consecutive} of ${form.threshold} failures`
        : undefined,
    );
  }

  #tell(state: State, live: string | undefined): void {
    say(this.#live.get(state)!, live ?? SUBTITLES[state]!);
  }

  #drawPips(of: number, filled: number): void {
    const count = of <= MOST_PIPS ? of : 0;
    if (this.#pips.childElementCount !== count) {
      const { x, y, width } = BOXES.closed;
      const first = x + width / 2 - ((count - 1) * 10) / 2;
      this.#pips.replaceChildren(
        ...Array.from({ length: count }, (_, pip) =>
          svg("circle", { cx: first + pip * 10, cy: y + 51.5, r: 3.2 }),
        ),
      );
    }
    [...this.#pips.children].forEach((pip, place) => {
      mark(pip, "data-filled", String(place < filled));
    });
  }
}
