// What workers ask: a real server on loopback, which answers as it is told to.

import { once } from "node:events";
import { type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export class Origin {
  /** How it answers what comes in: with a 200, with a 500, or not until `release`. */
  answers: "well" | "badly" | "not" = "well";
  /** Requests that came in. */
  asked = 0;
  #held: ServerResponse[] = [];
  #waiting: Record<"arrival" | "abortion", (() => void)[]> = { arrival: [], abortion: [] };

  readonly #server = createServer((_, response) => {
    this.asked += 1;
    response.on("close", () => response.writableFinished || this.#happened("abortion"));
    if (this.answers === "not") this.#held.push(response);
    else this.#answer(response);
    this.#happened("arrival");
  });

  /** Starts it; says where it is. */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  /** When the next request has come in, or who waits for an answer has gone away. */
  next(what: "arrival" | "abortion"): Promise<void> {
    return new Promise((resolve) => this.#waiting[what].push(resolve));
  }

  /** Answers all that wait, as it answers now. */
  release(): void {
    for (const response of this.#held.splice(0)) this.#answer(response);
  }

  #answer(response: ServerResponse): void {
    response.writeHead(this.answers === "well" ? 200 : 500).end(this.answers);
  }

  #happened(what: "arrival" | "abortion"): void {
    for (const tell of this.#waiting[what].splice(0)) tell();
  }
}
