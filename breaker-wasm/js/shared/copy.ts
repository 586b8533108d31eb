/**
 * What an isolate knows of a circuit that is shared: one copy for each binding and name, plain data,
 * so that nothing of a request outlives it here.
 */

import { type Checked, create } from "../options.js";
import { giveBack } from "../slots.js";
import { checkSame, settingsOf } from "./options.js";
import type { ObjectNamespace } from "./platform.js";
import type { Version } from "./protocol.js";

/** A span of time by the isolate's clock. Where the clock was set back it is over. */
export interface Span {
  readonly since: number;
  readonly lasts: number;
}

export function isWithin(span: Span | undefined, now: number): span is Span {
  return span !== undefined && now >= span.since && now - span.since < span.lasts;
}

/** The right to probe, and what became of it. */
export interface Lease extends Span {
  /** The local generation of its trial. */
  generation: number | undefined;
  inFlight: number;
  /** Of its probes one has counted. */
  counted: boolean;
}

/** What the object has to hear. */
export interface News {
  readonly kind: "changed" | "undecided";
  readonly operator: boolean;
  /** It was sent before, and perhaps it arrived. */
  again: boolean;
  /** It is on its way. */
  sent: Span | undefined;
}

export class Copy {
  /** The number of its circuit in the module. */
  readonly number: number;
  /** The version that it knows; `undefined`: the object never answered. */
  version: Version | undefined;
  /** The life before that of the version: what comes late from there is not gone by. */
  lifeBefore: string | undefined;
  /** While it is young enough to be gone by. */
  fresh: Span | undefined;
  /** The last talk failed: so long nobody tries again. Meanwhile it is a circuit of its own. */
  failed: Span | undefined;
  /** Somebody is asking: by time, as whoever asks may be gone. */
  reading: Span | undefined;
  leasing: Span | undefined;
  /** Before that the object grants nothing. */
  held: Span | undefined;
  lease: Lease | undefined;
  news: News | undefined;

  readonly settings: Checked;

  constructor(checked: Checked) {
    this.settings = settingsOf(checked);
    this.number = create(checked);
    giveBack(this, this.number);
  }
}

/** So many names are kept of each binding; the object has the state of those that are given up. */
const KEPT = 1000;

const copies = new WeakMap<ObjectNamespace, Map<string, Copy>>();

/** The copy of this isolate. Throws a `TypeError` if it has other settings. */
export function copyOf(namespace: ObjectNamespace, checked: Checked): Copy {
  let named = copies.get(namespace);
  if (!named) {
    named = new Map();
    copies.set(namespace, named);
  }
  const name = checked["name"];
  let copy = named.get(name);
  if (copy) {
    checkSame(copy.settings, checked);
    named.delete(name);
  } else {
    copy = new Copy(checked);
  }
  // The one that was used last stands last.
  named.set(name, copy);
  if (named.size > KEPT) {
    forget(named);
  }
  return copy;
}

/** Gives up the name that was used least lately, and rather one that is known as it is here. */
function forget(named: Map<string, Copy>): void {
  let [given] = named.keys();
  for (const [name, { news }] of named) {
    if (!news) {
      given = name;
      break;
    }
  }
  named.delete(given!);
}
