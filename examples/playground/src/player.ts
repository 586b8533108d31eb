/** Lets virtual time pass: by itself, faster or slower than the clock on the wall, or by steps. */

import type { World } from "./world.js";

/** A frame may work for so long, in milliseconds: what is not done by then is done in the next. */
const WORK = 12;

/** So much of real time passes in a frame at most, however long the page was not shown. */
const LONGEST_FRAME = 100;

export class Player {
  playing = false;
  speed = 1;
  #busy = false;
  /** One after the other: what is asked for while time passes comes after it. */
  #turn: Promise<void> = Promise.resolve();

  constructor(
    readonly world: World,
    readonly drawn: () => void,
  ) {
    let last = performance.now();
    const frame = (now: number) => {
      const passed = Math.min(now - last, LONGEST_FRAME);
      last = now;
      if (this.playing && !this.#busy) {
        this.#busy = true;
        this.#next(() => {
          const until = performance.now() + WORK;
          return world.runTo(world.now + passed * this.speed, () => performance.now() < until);
        }).finally(() => {
          this.#busy = false;
        });
      }
      drawn();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** Stops, and lets time pass until then. */
  step(until: () => number): void {
    this.playing = false;
    void this.#next(() => this.world.runTo(until()));
  }

  #next(run: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(run);
    return this.#turn;
  }
}
