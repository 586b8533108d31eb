// How states, times and numbers are said.

/** @typedef {"closed" | "open" | "half_open" | "forced_open" | "disabled" | "shadow"} State */

/**
 * The states, worst first.
 * @type {readonly State[]}
 */
export const STATES = ["open", "forced_open", "half_open", "disabled", "shadow", "closed"];

/** @type {Record<State, string>} */
export const NAMES = {
  open: "Open",
  forced_open: "Forced open",
  half_open: "Half-open",
  disabled: "Disabled",
  shadow: "Shadow",
  closed: "Closed",
};

/** @type {Record<State, string>} */
export const MEANINGS = {
  open: "Calls are refused until the wait is over.",
  forced_open: "An operator has calls refused until somebody changes it.",
  half_open: "Single probes find out whether the dependency is back.",
  disabled: "An operator lets all calls through; nothing is counted.",
  shadow: "All calls go through; what the breaker would have done is reported.",
  closed: "Calls go through, and failures are counted.",
};

/** @param {State} state */
export function severity(state) {
  return STATES.indexOf(state);
}

const UNITS = /** @type {const} */ ([
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
]);

/**
 * A time in its two largest units: "2 h 5 min".
 * @param {number} milliseconds
 */
export function long(milliseconds) {
  let seconds = Math.max(0, Math.floor(milliseconds / 1000));
  /** @type {string[]} */
  const parts = [];
  for (const [unit, size] of UNITS) {
    const many = Math.floor(seconds / size);
    if (many > 0) parts.push(`${many} ${unit}`);
    else if (parts.length > 0) break;
    seconds -= many * size;
    if (parts.length === 2) break;
  }
  return parts.join(" ") || "0 s";
}

/**
 * A setting's time, exactly: "1.5 s", "250 ms".
 * @param {number} milliseconds
 */
export function exactly(milliseconds) {
  if (milliseconds < 1000) return `${milliseconds} ms`;
  if (milliseconds % 1000 !== 0) return `${milliseconds / 1000} s`;
  let rest = milliseconds / 1000;
  /** @type {string[]} */
  const parts = [];
  for (const [unit, size] of UNITS) {
    const many = Math.floor(rest / size);
    if (many > 0) parts.push(`${many} ${unit}`);
    rest -= many * size;
  }
  return parts.join(" ");
}

const COUNTS = new Intl.NumberFormat("en");

/** @param {number} many */
export function count(many) {
  return COUNTS.format(many);
}

/**
 * @param {number} many
 * @param {string} one
 * @param {string} [more]
 */
export function counted(many, one, more = `${one}s`) {
  return `${count(many)} ${many === 1 ? one : more}`;
}

/** What isn't seen, or turns the direction of writing: it is shown as logs have it. */
const UNSEEN = /[\p{Cc}\u200b-\u200f\u2028-\u202e\u2060-\u206f]/gu;

/** @type {Record<string, string>} */
const ESCAPES = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/**
 * Somebody else's text, so that none looks like another.
 * @param {string} text
 */
export function plain(text) {
  return text.replace(UNSEEN, (c) => ESCAPES[c] ?? `\\u{${c.charCodeAt(0).toString(16)}}`);
}

/** What there is nothing of. */
export const NOTHING = "–";

/**
 * So many in so many seconds: "12.5/s".
 * @param {number} many
 * @param {number} seconds
 */
export function perSecond(many, seconds) {
  if (many === 0 || seconds === 0) return NOTHING;
  const rate = many / seconds;
  if (rate < 0.01) return "<0.01/s";
  const digits = rate < 1 ? 2 : rate < 100 ? 1 : 0;
  return `${COUNTS.format(Number(rate.toFixed(digits)))}/s`;
}

/**
 * @param {number} part
 * @param {number} whole
 */
export function share(part, whole) {
  if (whole === 0) return NOTHING;
  if (part === 0) return "0 %";
  const percent = (100 * part) / whole;
  if (percent < 1) return "<1 %";
  // Not all of them unless it is all.
  return `${part === whole ? 100 : Math.min(99, Math.round(percent))} %`;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/**
 * A time of day, with the day if it isn't today.
 * @param {number} at
 * @param {number} now
 */
export function clock(at, now) {
  const time = CLOCK.format(at);
  const day = DAY.format(at);
  return day === DAY.format(now) ? time : `${day}, ${time}`;
}

/** @param {string} text */
export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Why a state was entered, as a sentence that says who did it, if that is known.
 * @param {State} state
 * @param {string} why
 * @param {string | null} by
 */
export function because(state, why, by) {
  const who = by === null ? "an operator" : plain(by);
  if (why.startsWith("was set by an operator")) return `${NAMES[state]} by ${who}`;
  return sentence(why.replace(/^was /, "").replace("by an operator", `by ${who}`));
}
