/** Calls by fate as time runs, under a band of the breaker's states. */

import type { State } from "breaker-wasm";
import { make, say, svg } from "./dom.js";
import type { Call, Count, Simulation } from "./simulation.js";
import { STATE } from "./words.js";

interface Lane {
  readonly count: Count;
  readonly label: string;
  /** Around 0, 0. */
  readonly shape: string;
  readonly filled: boolean;
  readonly has: (call: Call) => boolean;
}

const fate = (wanted: Call["fate"]) => (call: Call) => call.fate === wanted;

/** What differs in colour differs in place and shape as well. */
const LANES: readonly Lane[] = [
  {
    count: "answered",
    label: "Answered",
    shape: "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0Z",
    filled: true,
    has: fate("answered"),
  },
  {
    count: "ignored",
    label: "Ignored (404)",
    shape: "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0Z",
    filled: false,
    has: fate("ignored"),
  },
  {
    count: "failed",
    label: "Failed",
    shape: "M-3.5-3.5 3.5 3.5M3.5-3.5-3.5 3.5",
    filled: false,
    has: fate("failed"),
  },
  {
    count: "timedOut",
    label: "Timed out",
    shape: "M-4-4.5H4L-4 4.5H4Z",
    filled: true,
    has: fate("timedOut"),
  },
  { count: "refused", label: "Refused", shape: "M0-5V5", filled: false, has: fate("refused") },
  {
    count: "probe",
    label: "Probe",
    shape: "M0-5 5 0 0 5-5 0Z",
    filled: false,
    has: (call) => call.probe && call.fate !== undefined,
  },
  {
    count: "stale",
    label: "Served stale",
    shape: "M-3.5-3.5h7v7h-7Z",
    filled: false,
    has: (call) => call.stale,
  },
];

/** In pixels, as the style sheet has them. */
const ROW = 26;
const AXIS = 20;
const BAND = 22;

/** So wide is a second; a narrow page shows fewer of them. */
const SECOND = 21;
const MOST_SECONDS = 120;

/** Colours of the style sheet. */
type Colours = Record<Count | State | "text" | "line", string>;

export class Timeline {
  readonly #canvas = make("canvas", { role: "img" });
  readonly #numbers = new Map<Count, HTMLElement>();
  readonly #paths = new Map<Count, Path2D>();
  #width = 0;
  #colours: Colours | undefined;

  constructor(
    parent: Element,
    readonly resized: () => void,
  ) {
    const legend = make("ul", { class: "lanes" }, make("li", { class: "states" }, "State"));
    for (const { count, label, shape, filled } of LANES) {
      const glyph = svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true", class: "glyph" });
      const style = filled ? "filled" : "hollow";
      glyph.append(svg("path", { d: shape, class: style, style: `--colour: var(--${count})` }));
      const number = make("b", { "data-count": count }, "0");
      legend.append(make("li", {}, glyph, make("span", {}, label), " ", number));
      this.#numbers.set(count, number);
      this.#paths.set(count, new Path2D(shape));
    }
    const frame = make("div", { class: "frame" }, this.#canvas);
    parent.append(legend, frame);
    this.#canvas.setAttribute(
      "aria-label",
      "A moving picture of the last calls, each at the time it ended, in the row of its fate; the numbers are beside it",
    );
    new ResizeObserver(() => {
      this.#width = frame.clientWidth;
      this.#canvas.width = 0;
      this.resized();
    }).observe(frame);
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => {
        this.#colours = undefined;
        this.resized();
      });
    }
  }

  draw(simulation: Simulation): void {
    for (const [count, number] of this.#numbers) {
      say(number, String(simulation.counts[count]));
    }
    const paint = this.#begin();
    if (!paint) {
      return;
    }
    const colours = (this.#colours ??= this.#readColours());
    const { now } = simulation.world;
    const seconds = Math.min(MOST_SECONDS, this.#width / SECOND);
    const from = Math.max(0, now - seconds * 1000 + 500);
    const x = (time: number) => 2 + ((time - from) / 1000) * (this.#width / seconds);
    this.#drawAxis(paint, colours, from, seconds, x);
    this.#drawSpans(paint, colours, simulation, from, x);
    for (const [row, lane] of LANES.entries()) {
      const y = ROW + row * ROW + ROW / 2;
      this.#drawLane(paint, colours, simulation.calls, lane, y, from, x);
    }
    paint.fillStyle = colours.text;
    paint.fillRect(x(now), 0, 1, ROW * (LANES.length + 1));
  }

  /** A clear canvas, as sharp as the screen is. */
  #begin(): CanvasRenderingContext2D | undefined {
    const paint = this.#canvas.getContext("2d");
    const height = ROW * (LANES.length + 1) + AXIS;
    const scale = devicePixelRatio;
    const width = Math.round(this.#width * scale);
    if (!paint || width === 0) {
      return undefined;
    }
    if (this.#canvas.width !== width) {
      this.#canvas.width = width;
      this.#canvas.height = Math.round(height * scale);
      this.#canvas.style.height = `${height}px`;
    }
    paint.setTransform(scale, 0, 0, scale, 0, 0);
    paint.clearRect(0, 0, this.#width, height);
    return paint;
  }

  #readColours(): Colours {
    const style = getComputedStyle(this.#canvas);
    const names: (keyof Colours)[] = [
      ...LANES.map(({ count }) => count),
      ...(Object.keys(STATE) as State[]),
      "text",
      "line",
    ];
    return Object.fromEntries(
      names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
    ) as Colours;
  }

  #drawAxis(
    paint: CanvasRenderingContext2D,
    colours: Colours,
    from: number,
    seconds: number,
    x: (time: number) => number,
  ): void {
    const bottom = ROW * (LANES.length + 1);
    const every = seconds > 25 ? 10 : 5;
    paint.font = "12px system-ui, sans-serif";
    paint.textAlign = "center";
    paint.textBaseline = "alphabetic";
    for (
      let tick = Math.ceil(from / 1000 / every) * every;
      tick <= from / 1000 + seconds;
      tick += every
    ) {
      const at = x(tick * 1000);
      paint.fillStyle = colours.line;
      paint.fillRect(at, ROW, 1, bottom - ROW);
      paint.fillStyle = colours.text;
      if (at > 12 && at < this.#width - 16) {
        paint.fillText(`${tick} s`, at, bottom + 15);
      }
    }
    paint.fillStyle = colours.line;
    for (let row = 1; row <= LANES.length + 1; row++) {
      paint.fillRect(0, row * ROW, this.#width, 1);
    }
  }

  #drawSpans(
    paint: CanvasRenderingContext2D,
    colours: Colours,
    { spans, world }: Simulation,
    from: number,
    x: (time: number) => number,
  ): void {
    paint.textAlign = "left";
    paint.textBaseline = "middle";
    spans.forEach(({ from: begins, state }, place) => {
      const ends = spans[place + 1]?.from ?? world.now;
      if (ends < from) {
        return;
      }
      const left = Math.max(0, x(begins));
      const width = Math.max(1.5, x(ends) - left);
      paint.save();
      paint.beginPath();
      paint.rect(left, 0, width, ROW * (LANES.length + 1));
      paint.clip();
      paint.fillStyle = colours[state];
      if (state !== "closed") {
        paint.globalAlpha = 0.1;
        paint.fillRect(left, ROW, width, ROW * LANES.length);
        paint.globalAlpha = 1;
      }
      paint.fillRect(left, 0, width, 3);
      paint.globalAlpha = 0.16;
      paint.fillRect(left, 0, width, BAND);
      paint.globalAlpha = 1;
      paint.fillStyle = colours.text;
      const label = STATE[state];
      if (width > paint.measureText(label).width + 10) {
        paint.fillText(label, left + 6, 3 + (BAND - 3) / 2 + 0.5);
      }
      paint.restore();
    });
  }

  #drawLane(
    paint: CanvasRenderingContext2D,
    colours: Colours,
    calls: readonly Call[],
    { count, filled, has }: Lane,
    y: number,
    from: number,
    x: (time: number) => number,
  ): void {
    const path = this.#paths.get(count)!;
    const colour = colours[count];
    paint.strokeStyle = colour;
    paint.fillStyle = colour;
    for (const call of calls) {
      if (!has(call) || call.ended < from) {
        continue;
      }
      const at = x(call.ended);
      const since = x(call.started);
      if (at - since > 6) {
        paint.globalAlpha = 0.35;
        paint.fillRect(since, y - 0.75, at - since, 1.5);
        paint.globalAlpha = 1;
      }
      paint.translate(at, y);
      paint.lineWidth = 1.75;
      if (filled || (call.probe && count === "probe" && call.fate === "answered")) {
        paint.fill(path);
      } else {
        paint.stroke(path);
      }
      paint.translate(-at, -y);
    }
  }
}
