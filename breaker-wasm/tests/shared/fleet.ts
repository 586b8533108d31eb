/** Isolates in workerd that are bound to the objects of one worker, and their clocks. */

import { mkdtempSync, rmSync } from "node:fs";
import { type ClientRequest, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { Miniflare } from "miniflare";
import type { CircuitRecord } from "../../js/shared/record.js";
import { bundled } from "../bundle.js";
import { Origin } from "../workerd/origin.js";
import { type Command, MAX_AGE, RESET, type Report, type Step } from "./command.js";
import type { Seen, Steering } from "./objects.js";

const compatibilityDate = "2026-04-01";

/** Built once for all tests of a file. */
const scripts = Promise.all([
  bundled({ entryPoints: [join(import.meta.dirname, "objects.ts")] }),
  bundled({ entryPoints: [join(import.meta.dirname, "isolate.ts")] }),
]);

const ISOLATES = ["a", "b", "c"] as const;

/** Clocks that have nothing in common, with each other or with the object's. */
const ORIGINS = { a: 1_000, b: 5_000_000_000, c: 70 };
const OBJECT_ORIGIN = 1_800_000_000_000;

export class Isolate {
  constructor(
    private readonly fleet: Fleet,
    private readonly name: (typeof ISOLATES)[number],
  ) {}

  /** Its clock. */
  get now(): number {
    return ORIGINS[this.name] + this.fleet.passed;
  }

  command(steps: Step | Step[], command: Partial<Command> = {}): Command {
    const options = { ...this.fleet.options, ...command.options };
    return { now: this.now, ...command, options, steps: Array.isArray(steps) ? steps : [steps] };
  }

  /** Asks it as a client that may go away: the request, which is to be destroyed. */
  async request(steps: Step | Step[], command: Partial<Command> = {}): Promise<ClientRequest> {
    const { hostname, port } = await this.fleet.runtime.ready;
    const headers = { host: `${this.name}.test` };
    const request = httpRequest({ hostname, port, method: "POST", headers });
    request.end(JSON.stringify(this.command(steps, command)));
    return request;
  }

  async run(steps: Step | Step[], command: Partial<Command> = {}): Promise<Report> {
    const body = this.command(steps, command);
    const worker = await this.fleet.runtime.getWorker(this.name);
    const init = { method: "POST", body: JSON.stringify(body) };
    const response = await worker.fetch("http://isolate/", init);
    const text = await response.text();
    if (!response.ok) throw new Error(`isolate ${this.name} says ${response.status}: ${text}`);
    return JSON.parse(text) as Report;
  }
}

export class Fleet {
  readonly a = new Isolate(this, "a");
  readonly b = new Isolate(this, "b");
  readonly c = new Isolate(this, "c");
  /** Milliseconds since the fleet was started. */
  passed = 0;
  runtime!: Miniflare;
  /** Beside those that an isolate has anyway. */
  options: NonNullable<Command["options"]> = {};
  /** What the runtime complained of: a rejection that nobody handled, for one. */
  readonly complaints: string[] = [];
  readonly #storage = mkdtempSync(join(tmpdir(), "breakers-"));

  static async start(context: TestContext): Promise<Fleet> {
    const fleet = new Fleet();
    await fleet.#boot();
    context.after(async () => {
      await fleet.runtime.dispose();
      rmSync(fleet.#storage, { recursive: true });
    });
    await fleet.advance(0);
    return fleet;
  }

  /** All isolates and objects are new; what the objects stored is there. */
  async restart(): Promise<void> {
    await this.runtime.dispose();
    await this.#boot();
  }

  async #boot(): Promise<void> {
    const [objects, isolate] = await scripts;
    const bound = { className: "SteeredObject", scriptName: "objects" };
    this.runtime = new Miniflare({
      durableObjectsPersist: this.#storage,
      handleStructuredLogs: ({ level, message }: { level: string; message: string }) => {
        if (level === "error" || level === "warn") this.complaints.push(message);
      },
      workers: [
        {
          name: "objects",
          compatibilityDate,
          modules: objects,
          durableObjects: { BREAKERS: "SteeredObject" },
        },
        ...ISOLATES.map((name) => ({
          name,
          compatibilityDate,
          modules: isolate,
          durableObjects: { BREAKERS: bound },
          routes: [`http://${name}.test/*`],
        })),
      ],
    });
    await this.runtime.ready;
  }

  /** Time passes everywhere. */
  async advance(milliseconds: number, name = "pms"): Promise<void> {
    this.passed += milliseconds;
    await this.steer({ now: OBJECT_ORIGIN + this.passed }, name);
  }

  /** A word to the object of a name; gives what it was asked since the last. */
  async steer(steering: Steering, name = "pms"): Promise<Seen> {
    const worker = await this.runtime.getWorker("objects");
    const init = { method: "POST", body: JSON.stringify(steering) };
    const response = await worker.fetch(`http://objects/${encodeURIComponent(name)}`, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`the object says ${response.status}: ${text}`);
    return JSON.parse(text) as Seen;
  }

  /** What the object was asked since the last time. */
  async asked(name?: string): Promise<string[]> {
    return (await this.steer({}, name)).asked;
  }

  /** When the object was asked this. */
  async askedFor(kind: string): Promise<void> {
    while (!(await this.asked()).includes(kind));
  }

  /** What the object keeps. */
  async kept(name?: string): Promise<CircuitRecord> {
    return (await this.steer({}, name)).kept as CircuitRecord;
  }

  /** Opened by isolate `a`, and known to the others. */
  async tripped(): Promise<void> {
    for (const isolate of [this.a, this.b, this.c]) await isolate.run("succeed");
    await this.a.run(["fail", "fail"]);
    await this.advance(MAX_AGE);
    for (const isolate of [this.b, this.c]) await isolate.run("succeed");
  }

  /** As above, and the wait is over. */
  async waited(): Promise<void> {
    await this.tripped();
    await this.advance(RESET - MAX_AGE);
  }
}

/** What is guarded, as a server that answers when it is told to; and where. */
export async function holding(context: TestContext): Promise<[Origin, string]> {
  const origin = new Origin();
  origin.answers = "not";
  const url = await origin.start();
  context.after(() => origin.stop());
  return [origin, url];
}
