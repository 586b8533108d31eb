/** The options of a shared breaker: those of any, and how it is shared. */

import type { Duration } from "../duration.js";
import {
  type BreakerOptions,
  type Checked,
  DURATION,
  checkBreaker,
  checkObject,
  checkTimeout,
} from "../options.js";
import type { ObjectNamespace, RequestContext } from "./platform.js";

export interface SharedOptions extends Omit<BreakerOptions, "name"> {
  /** How old what an isolate knows of the others may be. Default 5 s. */
  maxAge?: Duration | undefined;
  /**
   * How long the Durable Object may take to answer, before it counts as unreachable. At most `maxAge`.
   * Default 1 s, or that.
   */
  objectTimeout?: Duration | undefined;
}

const MAX_AGE = 5000;
const OBJECT_TIMEOUT = 1000;

/** What requests may say differently: each takes its own. */
const OWN = ["timeout", "classify", "classifyOutput", "fallback", "fallbackOn", "clock"];

/** Of options that were looked at already: most requests pass the same object. */
const known = new WeakMap<object, Checked>();

/** Looks at everything that `sharedBreaker` was given. Throws a `TypeError`. */
export function checkShared(
  namespace: ObjectNamespace,
  name: string,
  options: SharedOptions,
  context: RequestContext | undefined,
): Checked {
  let checked = known.get(options);
  if (!checked || checked["name"] !== name) {
    checkObject(options, `circuit \`${name}\``);
    if ("name" in options) {
      throw new TypeError(`circuit \`${name}\`: name is no option here, but the second parameter`);
    }
    checked = checkBreaker({ ...options, name }, { maxAge: DURATION, objectTimeout: DURATION });
    checked["maxAge"] ??= MAX_AGE;
    checked["objectTimeout"] ??= Math.min(OBJECT_TIMEOUT, checked["maxAge"]);
    if (checked["objectTimeout"] > checked["maxAge"]) {
      throw new TypeError(
        `circuit \`${name}\`: objectTimeout is above maxAge, so an answer would be too old to go by: ` +
          "write a shorter objectTimeout",
      );
    }
    checkTimeout(checked, checked);
    known.set(options, checked);
  }
  if (typeof namespace?.idFromName !== "function" || typeof namespace.get !== "function") {
    throw new TypeError(
      `circuit \`${name}\`: the namespace is ${namespace === undefined ? "undefined" : "none"}: ` +
        "expected the binding of a Durable Object class, like env.BREAKERS",
    );
  }
  if (context !== undefined && typeof context?.waitUntil !== "function") {
    throw new TypeError(
      `circuit \`${name}\`: the context has no waitUntil: expected that of the request, or none`,
    );
  }
  return checked;
}

/** The settings among options that were looked at already. */
const shown = new WeakMap<Checked, Checked>();

/** What all requests have to say alike, as they say it; nothing of it is a request's. */
export function settingsOf(checked: Checked): Checked {
  let settings = shown.get(checked);
  if (!settings) {
    const { ofTime, ...alike }: Checked = Object.fromEntries(
      Object.entries(checked).filter(([option]) => !OWN.includes(option)),
    );
    settings = ofTime ? { ...alike, window: `${alike["window"]}ms` } : alike;
    shown.set(checked, settings);
  }
  return settings;
}

/** Throws a `TypeError` where two requests want one circuit to be two. */
export function checkSame(first: Checked, checked: Checked): void {
  const settings = settingsOf(checked);
  if (first === settings) {
    return;
  }
  for (const option of Object.keys({ ...first, ...settings })) {
    if (first[option] !== settings[option]) {
      throw new TypeError(
        `circuit \`${first["name"]}\`: ${option} is ${settings[option]}, and was ${first[option]} ` +
          "before: expected the same settings wherever this name is used",
      );
    }
  }
}
