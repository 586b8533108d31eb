/** The worker that has the Durable Objects: the package's own, with a clock and faults of the test's. */

import { BreakerObject, type ObjectState } from "breaker-wasm/durable-object";

/** How it answers: as it should, after a word of the test, or as it should not. */
export type Mode = "well" | "held" | "silent" | "nonsense" | "refusing" | "throwing";

/** What the test says to it. */
export interface Steering {
  now?: number;
  mode?: Mode;
  /** Answers that are held go out. */
  release?: boolean;
  /** What it keeps is deleted. */
  forget?: boolean;
  /** It is ended, as the platform may do at any time. */
  restart?: boolean;
}

export interface Seen {
  /** The kinds of the messages that arrived since the last word of the test. */
  readonly asked: string[];
  /** When it was made, as a number that no other has. */
  readonly born: string;
  readonly kept: unknown;
}

interface State extends ObjectState {
  readonly storage: ObjectState["storage"] & { deleteAll(): Promise<void> };
  blockConcurrencyWhile(work: () => Promise<void>): void;
  abort(reason: string): void;
}

const CLOCK = "the test's clock";

export class SteeredObject extends BreakerObject {
  readonly #state: State;
  readonly #born = crypto.randomUUID();
  #now = 0;
  #mode: Mode = "well";
  #asked: string[] = [];
  #held: (() => void)[] = [];

  constructor(state: State) {
    super(state);
    this.#state = state;
    state.blockConcurrencyWhile(async () => {
      this.#now = Number((await state.storage.get(CLOCK)) ?? 0);
    });
  }

  override now(): number {
    return this.#now;
  }

  override async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).host === "steer") {
      return Response.json(await this.#steer((await request.json()) as Steering));
    }
    const { kind } = JSON.parse(await request.clone().text()) as { kind: string };
    this.#asked.push(kind);
    switch (this.#mode) {
      case "silent":
        return new Promise((answer) => setTimeout(() => answer(new Response()), 3_600_000));
      case "nonsense":
        return Response.json({ version: { life: "x", number: -1 }, snapshot: [], done: 1 });
      case "refusing":
        return new Response("overloaded", { status: 503 });
      case "throwing":
        throw new Error("broken");
      case "held": {
        const answer = await super.fetch(request);
        await new Promise<void>((release) => this.#held.push(release));
        return answer;
      }
      default:
        return super.fetch(request);
    }
  }

  async #steer({ now, mode, release, forget, restart }: Steering): Promise<Seen> {
    const { storage } = this.#state;
    if (now !== undefined) {
      this.#now = now;
      await storage.put(CLOCK, now);
    }
    this.#mode = mode ?? this.#mode;
    if (release) this.#held.splice(0).forEach((release) => release());
    if (forget) await storage.deleteAll();
    if (restart) this.#state.abort("the platform ends it");
    const seen = { asked: this.#asked, born: this.#born, kept: await storage.get("circuit") };
    this.#asked = [];
    return seen;
  }
}

interface Env {
  readonly BREAKERS: {
    idFromName(name: string): unknown;
    get(id: any): { fetch(url: string, init: object): Promise<Response> };
  };
}

export default {
  /** A test's word to the object of a name. */
  async fetch(request: Request, { BREAKERS }: Env): Promise<Response> {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    const body = await request.text();
    const stub = BREAKERS.get(BREAKERS.idFromName(name));
    return stub.fetch("https://steer/", { method: "POST", body });
  },
};
