/** What a breaker has counted towards its opening, retold from its own events: the package keeps it. */

import type { Events } from "breaker-wasm";
import type { Form } from "./form.js";

type Outcome = Events["outcome"]["outcome"];

export class Window {
  #counted: { readonly at: number; readonly failed: boolean; readonly slow: boolean }[] = [];

  constructor(readonly form: Form) {}

  count(outcome: Outcome, took: number, at: number): void {
    if (outcome === "success" || outcome === "failure") {
      const { form } = this;
      const slow = form.slowCounts && took > form.slow * 1000;
      this.#counted.push({ at, failed: outcome === "failure", slow });
      this.#forget(at);
    }
  }

  /** Calls in the window, and those of them that failed or were slow. */
  at(now: number): { calls: number; failed: number; slow: number } {
    this.#forget(now);
    return {
      calls: this.#counted.length,
      failed: this.#counted.filter(({ failed }) => failed).length,
      slow: this.#counted.filter(({ slow }) => slow).length,
    };
  }

  #forget(now: number): void {
    const { policy, windowOf, window } = this.form;
    if (policy === "row") {
      this.#counted = [];
    } else if (windowOf === "calls") {
      this.#counted = this.#counted.slice(-window);
    } else {
      const oldest = now - window * 1000;
      this.#counted = this.#counted.filter(({ at }) => at > oldest);
    }
  }
}
