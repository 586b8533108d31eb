/** What the page says of states and of what brought them about. */

import type { State, Trigger } from "breaker-wasm";
import type { Form } from "./form.js";
import type { Simulation } from "./simulation.js";

export const STATE: Readonly<Record<State, string>> = {
  closed: "Closed",
  open: "Open",
  half_open: "Half-open",
  forced_open: "Forced open",
  disabled: "Disabled",
  shadow: "Shadow",
};

export const MEANS: Readonly<Record<State, string>> = {
  closed: "Calls go through.",
  open: "Calls are refused at once; the dependency is left alone.",
  half_open: "A probe is let through; other calls are refused.",
  forced_open: "An operator holds it open: every call is refused.",
  disabled: "Every call goes through, and none is counted.",
  shadow: "Every call goes through; the log tells when it would have opened.",
};

const WHY: Readonly<Record<Trigger, string>> = {
  failures: "too many failures in a row",
  failure_rate: "too large a share of calls failed",
  slow_rate: "too large a share of calls was slow",
  failed_probe: "the probe failed",
  overloaded: "the dependency asked to be left alone",
  wait_over: "the wait is over: a probe",
  probe_timed_out: "the last probe never ended",
  recovered: "the dependency is back",
  operator: "an operator did it",
  restored: "restored",
  fleet: "others that share the circuit did it",
};

export function why(trigger: Trigger, failures: number): string {
  return trigger === "failures" ? `${plural(failures, "failure")} in a row` : WHY[trigger];
}

export const plural = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? "" : "s"}`;

export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** A length of time as one says it. */
export function time(milliseconds: number): string {
  const all = milliseconds / 1000;
  if (all < 100) {
    return `${all.toFixed(1)} s`;
  }
  const minutes = Math.round(all / 60);
  return minutes < 100
    ? `${Math.floor(all / 60)} min ${Math.floor(all % 60)} s`
    : `${(minutes / 60).toFixed(1)} h`;
}

/** How near the breaker is to its next state. */
export function progress(simulation: Simulation): string {
  const { state, form, world } = simulation;
  switch (state) {
    case "closed":
      return counted(simulation);
    case "open": {
      const { timeLeft } = simulation.snapshot;
      return timeLeft > 0 ? `${seconds(timeLeft)} until a probe` : "the next call is a probe";
    }
    case "half_open":
      return `${plural(simulation.probing, "probe")} out, ${simulation.probed} of ${form.closeAfter} succeeded`;
    case "shadow":
      return form.policy === "row" ? "watches" : rate(form, simulation.window.at(world.now));
    case "forced_open":
    case "disabled":
      return "until an operator ends it";
  }
}

function counted(simulation: Simulation): string {
  const { form, world } = simulation;
  return form.policy === "row"
    ? `${simulation.snapshot.consecutive} of ${plural(form.threshold, "failure")} in a row`
    : rate(form, simulation.window.at(world.now));
}

function rate(
  form: Form,
  { calls, failed, slow }: { calls: number; failed: number; slow: number },
): string {
  const slowly = form.slowCounts ? `, ${slow} slow` : "";
  const few = calls < form.minCalls ? `, judged from ${form.minCalls} on` : "";
  return `${failed} of ${plural(calls, "call")} failed${slowly}${few}`;
}
