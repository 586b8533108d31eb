/** What calls cost, on one side of the comparison. */

import type { Request } from "./dependency.js";

export class Tally {
  /** Requests that the dependency got while it was in trouble. */
  troubled = 0;
  /** Callers who wait. */
  waiting = 0;
  /** Callers who got an answer: fresh, stale, or that there is none. */
  answered = 0;
  #waited = 0;
  /** The sum of the moments at which those who wait began to. */
  #since = 0;

  sent(request: Request): void {
    this.troubled += request.trouble ? 1 : 0;
  }

  started(now: number): void {
    this.waiting += 1;
    this.#since += now;
  }

  ended(started: number, now: number, answered: boolean): void {
    this.answered += answered ? 1 : 0;
    this.waiting -= 1;
    this.#since -= started;
    this.#waited += now - started;
  }

  /** Milliseconds that all callers together have waited until now. */
  waited(now: number): number {
    return this.#waited + this.waiting * now - this.#since;
  }
}
