/** The controls of the breaker's options. */

import { byId, make, say } from "./dom.js";
import { type Form, type NumberOption, START, culprit, written } from "./form.js";
import { type NumberControl, NumberInput } from "./number.js";

const NUMBERS: Readonly<Record<NumberOption, Omit<NumberControl, "id" | "name">>> = {
  threshold: { label: "Failures in a row", min: 1, max: 20, step: 1 },
  failureRate: { label: "Share of calls that fail", min: 0.05, max: 1, step: 0.05 },
  window: { label: "Window", hint: "which calls are looked at", min: 5, max: 100, step: 1 },
  minCalls: {
    label: "At least so many calls",
    hint: "before anything opens it",
    min: 1,
    max: 50,
    step: 1,
  },
  slow: { label: "Slow is longer than", unit: "s", min: 0.1, max: 5, step: 0.1 },
  slowRate: { label: "Share of calls that are slow", min: 0.05, max: 1, step: 0.05 },
  reset: {
    label: "Stays open for",
    hint: "then a probe is let through",
    unit: "s",
    min: 1,
    max: 60,
    step: 1,
  },
  backoff: {
    label: "Longer each time, by",
    hint: "the wait after each probe that failed",
    unit: "×",
    min: 1,
    max: 4,
    step: 0.1,
  },
  jitter: {
    label: "Jitter",
    hint: "share of the wait that is added at random",
    min: 0,
    max: 1,
    step: 0.05,
  },
  probes: { label: "Probes at once", min: 1, max: 10, step: 1 },
  closeAfter: { label: "Successes that close it", min: 1, max: 10, step: 1 },
  timeout: { label: "Gives up after", unit: "s", min: 0.1, max: 10, step: 0.1 },
};

export class OptionControls {
  /** What the controls say, also where there is no such breaker. */
  readonly form: Form = { ...START };
  readonly #inputs = {} as Record<NumberOption, NumberInput>;
  /** As long as nobody said how many successes close it, as many as there are probes. */
  #closesAfterProbes = true;

  /** `use` throws where there is no breaker of these options. */
  constructor(
    readonly use: (form: Form) => void,
    readonly after: () => void,
  ) {
    for (const option of Object.keys(NUMBERS) as NumberOption[]) {
      const control = { id: option, name: option, ...NUMBERS[option] };
      this.#inputs[option] = new NumberInput(control, START[option], (value) => {
        this.#set(option, value);
      });
    }
    byId("options").append(
      this.#group(
        "When it opens",
        this.#choice("policy", "After", { row: "failures in a row", rate: "a failure rate" }),
        this.#number("threshold"),
        this.#number("failureRate"),
        this.#choice("windowOf", "Over the last", { calls: "calls", seconds: "seconds" }),
        this.#number("window"),
        this.#number("minCalls"),
        this.#toggle("slowCounts", "Slow calls open it, too"),
        this.#number("slow"),
        this.#number("slowRate"),
      ),
      this.#group(
        "How long it stays open",
        this.#number("reset"),
        this.#number("backoff"),
        this.#number("jitter"),
      ),
      this.#group("How it closes again", this.#number("probes"), this.#number("closeAfter")),
      this.#group(
        "Each call",
        this.#toggle("timesOut", "Time limit"),
        this.#number("timeout"),
        this.#toggle("fallback", "Serve the last good answer instead"),
      ),
    );
    byId("options").addEventListener("submit", (event) => event.preventDefault());
    this.#show();
  }

  #number(option: NumberOption): HTMLElement {
    return this.#inputs[option].element;
  }

  #group(title: string, ...controls: HTMLElement[]): HTMLElement {
    return make("fieldset", {}, make("legend", {}, title), ...controls);
  }

  #choice<Option extends "policy" | "windowOf">(
    option: Option,
    title: string,
    choices: Record<Form[Option], string>,
  ): HTMLElement {
    const group = make("div", {
      class: "choice",
      role: "radiogroup",
      "aria-label": title,
      id: option,
    });
    group.append(make("span", { class: "lead", "aria-hidden": "true" }, title));
    for (const [value, label] of Object.entries<string>(choices)) {
      const radio = make("input", { type: "radio", name: option, value });
      radio.checked = value === START[option];
      radio.addEventListener("change", () => {
        this.form[option] = value as Form[Option];
        this.#changed();
      });
      group.append(make("label", {}, radio, make("span", {}, label)));
    }
    return group;
  }

  #toggle(option: "slowCounts" | "timesOut" | "fallback", label: string): HTMLElement {
    const box = make("input", { type: "checkbox", id: option });
    box.checked = START[option];
    box.addEventListener("change", () => {
      this.form[option] = box.checked;
      this.#changed();
    });
    return make("label", { class: "toggle" }, box, make("span", {}, label));
  }

  #set(option: NumberOption, value: number): void {
    this.form[option] = value;
    if (option === "closeAfter") {
      this.#closesAfterProbes = false;
    } else if (option === "probes" && this.#closesAfterProbes) {
      this.form.closeAfter = value;
      this.#inputs.closeAfter.set(value);
    }
    this.#changed();
  }

  #changed(): void {
    this.#show();
    let wrong: Error | undefined;
    try {
      this.use(this.form);
    } catch (error) {
      if (!(error instanceof TypeError)) {
        throw error;
      }
      wrong = error;
    }
    const at = wrong && (culprit(wrong, written(this.form)) ?? "threshold");
    for (const option of Object.keys(NUMBERS) as NumberOption[]) {
      this.#inputs[option].error = wrong && option === at ? wrong.message : "";
    }
    say(
      byId("unused"),
      wrong ? "Not in use: there is no such breaker. It runs with the last options that work." : "",
    );
    this.after();
  }

  /** Only what has a meaning with what else was chosen. */
  #show(): void {
    const { policy, windowOf, slowCounts, timesOut } = this.form;
    const byRate = policy === "rate";
    this.#inputs.threshold.shown = !byRate;
    for (const option of ["failureRate", "window", "minCalls"] as const) {
      this.#inputs[option].shown = byRate;
    }
    const choice = document.getElementById("windowOf");
    if (choice) {
      choice.hidden = !byRate;
    }
    this.#inputs.window.unit = windowOf === "calls" ? "calls" : "s";
    this.#inputs.slow.shown = slowCounts;
    this.#inputs.slowRate.shown = slowCounts;
    this.#inputs.timeout.shown = timesOut;
  }
}
