/** Virtual time: it passes only when it is told to, and then as fast as the machine can. */

interface Task {
  readonly time: number;
  readonly id: number;
  readonly run: () => void;
}

export class World {
  #now = 0;
  #last = 0;
  /** Goes up when all begins anew, so that what was still running stops. */
  #era = 0;
  /** By time; those of the same time in the order in which they were asked for. */
  #tasks: Task[] = [];

  /** Milliseconds since it began. */
  get now(): number {
    return this.#now;
  }

  /** Runs something so many milliseconds from now. Gives a number, for `cancel`. */
  after(delay: number, run: () => void): number {
    const task = { time: this.#now + Math.max(0, delay), id: ++this.#last, run };
    let place = this.#tasks.length;
    while (place > 0 && this.#tasks[place - 1]!.time > task.time) {
      place -= 1;
    }
    this.#tasks.splice(place, 0, task);
    return task.id;
  }

  cancel(id: number | undefined): void {
    const place = this.#tasks.findIndex((task) => task.id === id);
    if (place >= 0) {
      this.#tasks.splice(place, 1);
    }
  }

  /**
   * Lets time pass until then: whatever is due runs, each thing with all that follows from it at
   * that moment. Stops early once `mayGoOn` says no.
   */
  async runTo(time: number, mayGoOn: () => boolean = () => true): Promise<void> {
    const era = this.#era;
    while (era === this.#era) {
      const first = this.#tasks[0];
      if (!first || first.time > time) {
        this.#now = Math.max(this.#now, time);
        return;
      }
      if (!mayGoOn()) {
        return;
      }
      this.#tasks.shift();
      this.#now = first.time;
      first.run();
      await settled();
    }
  }

  /** Back to the beginning, with nothing to come. */
  clear(): void {
    this.#era += 1;
    this.#now = 0;
    this.#tasks = [];
  }
}

const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();

/** Once every promise that could be settled has been: a message comes after all of them. */
export function settled(): Promise<void> {
  return new Promise((done) => {
    waiting.push(done);
    port2.postMessage(undefined);
  });
}
