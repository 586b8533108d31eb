/** What the same calls cost with the breaker and without, in numbers. */

import { byId, make, mark, say, within } from "./dom.js";
import type { Simulation } from "./simulation.js";
import type { Tally } from "./tally.js";
import { plural, time } from "./words.js";

interface Row {
  readonly id: string;
  readonly label: string;
  readonly of: (tally: Tally, now: number) => number;
  readonly says: (value: number) => string;
}

const ROWS: readonly Row[] = [
  {
    id: "troubled",
    label: "Requests to the dependency in trouble",
    of: ({ troubled }) => troubled,
    says: String,
  },
  {
    id: "waited",
    label: "Time that callers waited",
    of: (tally, now) => tally.waited(now),
    says: time,
  },
  {
    id: "waiting",
    label: "Callers waiting now",
    of: ({ waiting }) => waiting,
    says: String,
  },
  {
    id: "answered",
    label: "Callers who got an answer",
    of: ({ answered }) => answered,
    says: String,
  },
];

const SIDES = ["with", "without"] as const;

export class Cost {
  readonly #cells: { row: Row; cells: HTMLElement[] }[] = [];

  constructor() {
    const body = within(byId("cost"), "tbody");
    for (const row of ROWS) {
      const cells = SIDES.map((side) =>
        make(
          "td",
          { "data-cost": `${row.id}-${side}` },
          make("span", {}),
          make("i", { class: side, "aria-hidden": "true" }),
        ),
      );
      body.append(make("tr", {}, make("th", { scope: "row" }, row.label), ...cells));
      this.#cells.push({ row, cells });
    }
  }

  draw({ guarded, bare, world }: Simulation): void {
    for (const { row, cells } of this.#cells) {
      const values = [guarded, bare].map((tally) => row.of(tally, world.now));
      const most = Math.max(...values);
      cells.forEach((cell, side) => {
        const value = values[side]!;
        say(within(cell, "span"), row.says(value));
        const share = most > 0 ? (value / most) * 100 : 0;
        mark(within(cell, "i"), "style", `--share: ${share.toFixed(1)}%`);
      });
    }
    const requests = bare.troubled - guarded.troubled;
    const waited = bare.waited(world.now) - guarded.waited(world.now);
    say(
      byId("verdict"),
      requests > 0
        ? `So far the breaker spared the dependency ${plural(requests, "request")}` +
            (waited >= 100 ? `, and its callers ${time(waited)} of waiting.` : ".")
        : "Nothing to spare yet: break the dependency.",
    );
  }
}
