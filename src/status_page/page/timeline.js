// States over time: a strip in each row, and a picture with a lane for each state.

import { svg } from "./dom.js";
import { NAMES, STATES, clock } from "./words.js";

/** @typedef {import("./words.js").State} State */
/** @typedef {readonly (readonly [number, State])[]} Entered */

/** A row's strip is of so much time, in milliseconds. */
const STRIP = 600_000;

const WIDE = 140;
const TALL = 16;

/**
 * How tall a state is drawn in a strip, so that it isn't told by its colour alone.
 * @type {Record<State, number>}
 */
const HEIGHTS = {
  open: 16,
  forced_open: 16,
  half_open: 9,
  disabled: 2,
  shadow: 5,
  closed: 3,
};

/**
 * The stretches in which a circuit was in one state, between two times.
 * @param {Entered} entered
 * @param {number} from
 * @param {number} to
 * @returns {{ state: State, from: number, to: number }[]}
 */
function stretches(entered, from, to) {
  return entered
    .map(([at, state], place) => ({
      state,
      from: Math.max(at, from),
      to: Math.min(entered[place + 1]?.[0] ?? to, to),
    }))
    .filter((stretch) => stretch.to >= stretch.from);
}

/**
 * The last ten minutes.
 * @returns {SVGSVGElement}
 */
export function strip() {
  return svg("svg", {
    class: "strip",
    viewBox: `0 0 ${WIDE} ${TALL}`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
}

/**
 * @param {SVGSVGElement} drawn
 * @param {Entered} entered
 * @param {number} now
 */
export function drawStrip(drawn, entered, now) {
  const from = now - STRIP;
  const place = (/** @type {number} */ at) => ((at - from) / STRIP) * WIDE;
  // A stretch of a second would else not be seen.
  const bars = stretches(entered, from, now).map((stretch) => {
    const height = HEIGHTS[stretch.state];
    const x = place(stretch.from);
    return svg("rect", {
      class: `of-${stretch.state}`,
      x: x.toFixed(2),
      y: TALL - height,
      width: Math.max(1.5, place(stretch.to) - x).toFixed(2),
      height,
    });
  });
  drawn.replaceChildren(...bars);
}

const LANE = 26;
const LABELS = 92;
const AXIS = 22;

/**
 * The circuit's history with a lane for each state that it was in.
 * @param {Entered} entered
 * @param {number} now
 * @param {number} width
 * @returns {SVGSVGElement}
 */
export function lanes(entered, now, width) {
  const been = new Set(entered.map(([, state]) => state));
  const states = STATES.filter((state) => been.has(state));
  const start = Math.min(entered[0]?.[0] ?? now, now - 1000);
  const height = states.length * LANE + AXIS;
  const room = Math.max(60, width - LABELS - 4);
  const x = (/** @type {number} */ at) => LABELS + ((at - start) / (now - start)) * room;
  const drawn = svg("svg", {
    class: "lanes",
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: "img",
    "aria-label": `${entered.length === 1 ? "One state" : `${entered.length} states`} since ${clock(start, now)}, listed below`,
  });
  states.forEach((state, lane) => {
    const y = lane * LANE;
    drawn.append(
      svg("text", { class: "lane-name", x: 0, y: y + 17 }, NAMES[state]),
      svg("line", { class: "lane", x1: LABELS, x2: LABELS + room, y1: y + 13, y2: y + 13 }),
    );
  });
  /** @type {number | null} */
  let before = null;
  for (const stretch of stretches(entered, start, now)) {
    const y = states.indexOf(stretch.state) * LANE;
    const left = x(stretch.from);
    if (before !== null) {
      drawn.append(svg("line", { class: "step", x1: left, x2: left, y1: before + 13, y2: y + 13 }));
    }
    drawn.append(
      svg("rect", {
        class: `of-${stretch.state}`,
        x: left.toFixed(2),
        y: y + 6,
        width: Math.max(2, x(stretch.to) - left).toFixed(2),
        height: 14,
        rx: 2,
      }),
    );
    before = y;
  }
  drawn.append(
    svg("text", { class: "tick", x: LABELS, y: height - 5 }, clock(start, now)),
    svg(
      "text",
      { class: "tick", x: LABELS + room, y: height - 5, "text-anchor": "end" },
      clock(now, now),
    ),
  );
  return drawn;
}
