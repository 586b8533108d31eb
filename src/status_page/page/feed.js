// Asks the server what is new. Asking again and again gets through every proxy, and costs little,
// as the answer has only what changed.

/** @typedef {import("./circuits.js").Document} Document */

/** An answer that takes longer isn't waited for, in milliseconds. */
const PATIENCE = 15_000;

/** How long is waited after failures in a row. */
const WAITS = [1000, 2000, 4000, 8000, 15_000];

/** So much more seldom is asked by a page that nobody sees. */
const UNSEEN = 10;

/**
 * @typedef {object} Listener
 * @property {() => string | null} seen
 * @property {(said: Document) => void} said
 * @property {(why: string) => void} lost
 */

export class Feed {
  #failures = 0;
  #refresh = 1000;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer = undefined;
  /** @type {Promise<void> | null} */
  #asking = null;

  /**
   * @param {string} address
   * @param {Listener} listener
   */
  constructor(address, listener) {
    this.address = address;
    this.listener = listener;
  }

  start() {
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) void this.now();
    });
    addEventListener("online", () => void this.now());
    return this.now();
  }

  /** Asks at once, and not when it would have. */
  async now() {
    clearTimeout(this.#timer);
    // What is under way may be from before.
    await this.#asking;
    clearTimeout(this.#timer);
    this.#asking = this.#ask();
    await this.#asking;
    this.#asking = null;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.now(), this.#wait());
  }

  #wait() {
    if (this.#failures > 0) {
      return WAITS[Math.min(this.#failures, WAITS.length) - 1] ?? this.#refresh;
    }
    return document.hidden ? this.#refresh * UNSEEN : this.#refresh;
  }

  async #ask() {
    try {
      const said = await get(this.address, this.listener.seen());
      this.#failures = 0;
      this.#refresh = Math.max(50, said.refresh_ms);
      this.listener.said(said);
    } catch (error) {
      this.#failures += 1;
      this.listener.lost(
        error instanceof Unusable ? error.message : "The server can't be reached.",
      );
    }
  }
}

/** What somebody answered can't be used. */
class Unusable extends Error {}

/**
 * @param {string} address
 * @param {string | null} seen
 * @returns {Promise<Document>}
 */
async function get(address, seen) {
  const query = seen === null ? "" : `?since=${encodeURIComponent(seen)}`;
  const response = await fetch(address + query, {
    headers: { accept: "application/json" },
    cache: "no-store",
    signal: AbortSignal.timeout(PATIENCE),
  });
  if (!response.ok) throw new Unusable(`The server answers ${response.status}.`);
  if (!response.headers.get("content-type")?.startsWith("application/json")) {
    throw new Unusable(
      "Another page answers: perhaps you have to log in again. Load this one anew.",
    );
  }
  const said = /** @type {Document} */ (await response.json());
  if (said.format !== 1) {
    throw new Unusable("The service is newer than this page. Load it anew.");
  }
  return said;
}
