// A property-management system that can be told to fail: a real server on loopback, with a
// log of what it was asked.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** How it answers: as it should, with a 500, not at all, or that it knows no such hotel. */
export const MODES = ["healthy", "failing", "hanging", "unknown"] as const;
export type Mode = (typeof MODES)[number];

/** A request that it was asked. */
export interface Asked {
  hotel: string;
  /** The status of the answer; `undefined` while there is none. */
  status?: number;
  /** Whether who asked went away before there was an answer. */
  aborted: boolean;
}

export class Pms {
  mode: Mode = "healthy";
  rooms = 7;
  readonly log: Asked[] = [];

  readonly #server = createServer((request, response) => this.#answer(request, response));
  #arrived: (() => void)[] = [];
  #aborted: (() => void)[] = [];

  /** Starts it, on any free port if none is named; says its URL. */
  async start(port = 0): Promise<string> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  /** When the next request has come in. */
  arrival(): Promise<void> {
    return new Promise((resolve) => this.#arrived.push(resolve));
  }

  /** When somebody who waits for an answer has gone away. */
  abortion(): Promise<void> {
    return new Promise((resolve) => this.#aborted.push(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const [, place, name] = (request.url ?? "").split("/");
    if (request.method === "POST" && place === "be") {
      this.#be(name ?? "", response);
      return;
    }
    const asked: Asked = { hotel: name ?? "", aborted: false };
    this.log.push(asked);
    response.on("close", () => {
      if (!response.writableFinished) {
        asked.aborted = true;
        this.#aborted.splice(0).forEach((tell) => tell());
      }
    });
    const say = (status: number, body: unknown): void => {
      asked.status = status;
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (this.mode === "healthy") {
      say(200, { rooms: this.rooms });
    } else if (this.mode === "failing") {
      say(500, { error: "out of order" });
    } else if (this.mode === "unknown") {
      say(404, { error: "no such hotel" });
    }
    this.#arrived.splice(0).forEach((tell) => tell());
  }

  #be(name: string, response: ServerResponse): void {
    const mode = MODES.find((mode) => mode === name);
    if (mode === undefined) {
      response.writeHead(400).end(`expected one of ${MODES.join(", ")}\n`);
      return;
    }
    this.mode = mode;
    response.end(`it is ${mode} now\n`);
  }
}
