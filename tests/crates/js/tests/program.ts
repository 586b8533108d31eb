// The program of this package, in a JavaScript world of its own: with just those globals
// that a test gives it, and breakers that no other test has touched.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import vm from "node:vm";

const built = process.env["TEST_JS"];
if (built === undefined) {
  throw new Error("`TEST_JS` is not set: run these tests by `cargo xtask test`");
}
export const glue = readFileSync(join(built, "test_js.js"), "utf8");
export const wasm: Buffer<ArrayBuffer> = Buffer.from(readFileSync(join(built, "test_js_bg.wasm")));

type Dependency = () => unknown;

/** What the Rust half exports. */
export interface Program {
  rooms(dependency: Dependency): Promise<unknown>;
  rates(dependency: Dependency): Promise<unknown>;
  byHost(host: string, dependency: Dependency): Promise<unknown>;
  cached(dependency: Dependency): Promise<unknown>;
  costs(account: string, dependency: Dependency): Promise<unknown>;
  prime(account: string, value: string, age: number): void;
  limited(ms: number, dependency: Dependency): Promise<unknown>;
  declared(dependency: Dependency): Promise<unknown>;
  admitPlain(): void;
  Client: new (name: string) => { call(dependency: Dependency): Promise<unknown>; free(): void };
  Begun: new (dependency: Dependency) => { poll(): boolean; free(): void };
  state(name: string): string | undefined;
  keys(name: string): string[];
  openFor(name: string, ms: number): boolean;
  listen(): void;
  heard(): string[];
  now(): bigint;
  resolution(): bigint;
  entropy(): bigint | undefined;
  sleep(nanos: bigint): Promise<void>;
  ownClock(): boolean;
  retryAfter(retryAfter: string, date?: string): number | undefined;
  testScope(): boolean;
}

/** Starts the program with these globals beside the language's own. */
export function start(globals: Record<string, unknown>): Program {
  const world = vm.createContext({ TextDecoder, TextEncoder, ...globals, wasm });
  // In that world: objects from here are none of its own there.
  const started = "wasm_bindgen.initSync({ module: new WebAssembly.Module(wasm) }); wasm_bindgen";
  const program: unknown = vm.runInContext(`${glue}; ${started}`, world);
  return program as Program;
}

/** A clock that stands still, in milliseconds. */
export class FrozenClock {
  ms = 5_000;

  get performance(): { now(): number; timeOrigin: number } {
    return { now: () => this.ms, timeOrigin: 1_700_000_000_000 };
  }
}

/** `setTimeout` by hand: a timer fires when the test says so. */
export class Timers {
  readonly running = new Map<number, { ms: number; fire(): void }>();
  made = 0;

  readonly globals = {
    setTimeout: (callback: (...args: unknown[]) => void, ms: number, ...args: unknown[]) => {
      this.made += 1;
      const id = this.made;
      const fire = (): void => {
        this.running.delete(id);
        callback(...args);
      };
      this.running.set(id, { ms, fire });
      return id;
    },
    clearTimeout: (id: number) => {
      this.running.delete(id);
    },
  };

  /** The delays of those that run. */
  get delays(): number[] {
    return [...this.running.values()].map((timer) => timer.ms);
  }

  /** Fires all that run now. */
  fire(): void {
    for (const timer of [...this.running.values()]) {
      timer.fire();
    }
  }
}

/** Lets everything happen that is not waiting for something from outside. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export const hangs: Dependency = () => new Promise(() => undefined);

export class HttpError extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

/** A dependency whose answers the test decides, and which knows how often it was asked. */
export class Pms {
  asked = 0;
  status = 200;

  readonly ask = async (): Promise<string> => {
    this.asked += 1;
    await Promise.resolve();
    if (this.status >= 400) {
      throw new HttpError(this.status);
    }
    return "7 rooms";
  };
}
