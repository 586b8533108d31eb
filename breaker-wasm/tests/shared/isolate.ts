/** A worker whose circuits are shared: it does what a test commands. Its clock is the test's. */

import { CircuitOpenError } from "breaker-wasm";
import {
  type ObjectNamespace,
  type RequestContext,
  type SharedBreaker,
  sharedBreaker,
} from "breaker-wasm/durable-object";
import {
  type Command,
  LEASE,
  MAX_AGE,
  RESET,
  type Report,
  type Step,
  type Told,
} from "./command.js";

interface Env {
  readonly BREAKERS: ObjectNamespace;
}

let now = 0;

class Down extends Error {}
class Unknown extends Error {}

/** The bindings that are not what they should be: each the same one in every request. */
const troubled = new Map<string, ObjectNamespace>();

function binding({ trouble }: Command, { BREAKERS }: Env): ObjectNamespace {
  if (trouble === undefined) return BREAKERS;
  if (trouble === "missing") return undefined as unknown as ObjectNamespace;
  const known = troubled.get("binding") ?? {
    idFromName(name) {
      if (current === "throws at idFromName") throw new Error("no id");
      return BREAKERS.idFromName(name);
    },
    get(id) {
      if (current === "throws at get") throw new Error("no stub");
      if (current === "rejects") return { fetch: () => Promise.reject(new Error("gone")) };
      return BREAKERS.get(id);
    },
  };
  troubled.set("binding", known);
  current = trouble;
  return known;
}

let current: Command["trouble"];

async function perform(breaker: SharedBreaker, step: Step, count: () => void): Promise<string> {
  const call = async (f: () => unknown, signal?: AbortSignal): Promise<string> =>
    String(
      await breaker.call(
        () => {
          count();
          return f();
        },
        signal ? { signal } : undefined,
      ),
    );
  if (typeof step === "object") {
    if ("pass" in step) {
      now += step.pass;
      return "passed";
    }
    if ("openFor" in step) return String(await breaker.openFor(step.openFor));
    return call(async () => {
      const { status } = await fetch(step.ask);
      if (status !== 200) throw new Down(String(status));
      return "fresh";
    });
  }
  switch (step) {
    case "succeed":
      return call(async () => "fresh");
    case "fail":
      return call(async () => {
        throw new Down("down");
      });
    case "ignore":
      return call(async () => {
        throw new Unknown("unknown");
      });
    case "give up": {
      const controller = new AbortController();
      const given = call(() => new Promise(() => {}), controller.signal);
      controller.abort(new Down("given up"));
      return given;
    }
    case "wrap": {
      const wrapped = breaker.wrap(async (hotel: string) => {
        count();
        return hotel;
      });
      return wrapped("fresh");
    }
    default:
      return String(await breaker[step]());
  }
}

async function run(command: Command, env: Env, ctx: RequestContext): Promise<Report> {
  now = command.now ?? now;
  const background: Promise<unknown>[] = [];
  const contexts = {
    none: undefined,
    real: ctx,
    collected: { waitUntil: (said: Promise<unknown>) => void background.push(said) },
  };
  const name = command.name ?? "pms";
  const breaker = command.bare
    ? sharedBreaker(binding(command, env), name)
    : sharedBreaker(
        binding(command, env),
        name,
        {
          threshold: 2,
          reset: RESET,
          jitter: 0,
          probeTimeout: LEASE,
          maxAge: MAX_AGE,
          objectTimeout: MAX_AGE,
          classify: (error) => !(error instanceof Unknown),
          ...command.options,
          clock: () => now,
        },
        contexts[command.context ?? "collected"],
      );
  const events: Told[] = [];
  breaker.on("stateChange", ({ type, to, trigger, wait }) => {
    events.push({ type, to, trigger, ...(wait === undefined ? {} : { wait }) });
  });
  breaker.on("sharingFailed", ({ type, cause }) => {
    events.push({ type, cause: String(cause) });
  });
  const ended: string[] = [];
  let made = 0;
  let retryAfter: number | undefined;
  for (const step of command.steps) {
    try {
      ended.push(await perform(breaker, step, () => (made += 1)));
    } catch (error) {
      ended.push(error instanceof CircuitOpenError ? "refused" : (error as Error).message);
      if (error instanceof CircuitOpenError) ({ retryAfter } = error);
    }
  }
  const { state } = breaker;
  await Promise.all(background);
  const after = breaker.state;
  return { ended, retryAfter, made, state, after, background: background.length, events };
}

export default {
  async fetch(request: Request, env: Env, ctx: RequestContext): Promise<Response> {
    const command = (await request.json()) as Command;
    try {
      return Response.json(await run(command, env, ctx));
    } catch (error) {
      return Response.json({ thrown: `${(error as Error).name}: ${(error as Error).message}` });
    }
  },
};
