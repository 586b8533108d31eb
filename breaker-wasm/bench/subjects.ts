// What is measured: the same calls through each library, each in a loop of its own, so that the
// engine can make the most of every one of them.

import { CircuitBreaker } from "breaker-wasm";
import * as cockatiel from "cockatiel";
import Opossum from "opossum";

export type Loop = (calls: number) => Promise<void>;

/** A row: who, and in which table. */
export interface Subject {
  readonly by: "bare" | "breaker-wasm" | "cockatiel" | "opossum";
  readonly what: string;
  readonly loop: Loop;
}

/** Subjects that are compared with each other; the first is the bare call. */
export interface Comparison {
  readonly title: string;
  readonly subjects: readonly Subject[];
}

const answer = { rooms: 3 };

/** The dependency: it has its answer at once. */
async function inventory(_hotel: string): Promise<{ rooms: number }> {
  return answer;
}

const down = new Error("down");

let reached = 0;

async function failing(_hotel: string): Promise<{ rooms: number }> {
  reached++;
  throw down;
}

const lastGood = async () => answer;
const counts = (error: unknown) => error instanceof Error;

const FAILURES = 5;
const RESET = 3_600_000;
const TIMEOUT = 2_000;

const settings = { name: "pms", threshold: FAILURES, reset: RESET };
const untimed = { ...settings, classify: counts, fallback: lastGood };
const every = { ...untimed, timeout: TIMEOUT };

function cockatielBreaker() {
  return cockatiel.circuitBreaker(cockatiel.handleWhen(counts), {
    halfOpenAfter: RESET,
    breaker: new cockatiel.ConsecutiveBreaker(FAILURES),
  });
}

function cockatielUntimed() {
  return cockatiel.wrap(
    cockatiel.fallback(cockatiel.handleWhen(counts), lastGood),
    cockatielBreaker(),
  );
}

function cockatielEvery() {
  return cockatiel.wrap(
    cockatiel.fallback(cockatiel.handleWhen(counts), lastGood),
    cockatielBreaker(),
    cockatiel.timeout(TIMEOUT, cockatiel.TimeoutStrategy.Aggressive),
  );
}

/** It has no count of failures in a row: a share of them in a window is next to it. */
const opossumSettings = {
  resetTimeout: RESET,
  volumeThreshold: FAILURES,
  errorThresholdPercentage: 50,
};

const opossumClassified = {
  ...opossumSettings,
  errorFilter: (error: unknown) => !counts(error),
};

/** Makes calls that fail, and sees to it that the next one is refused. */
async function opened(call: () => Promise<unknown>): Promise<void> {
  for (let failed = 0; failed < FAILURES; failed++) await call().catch(() => {});
  const before = reached;
  await call().catch(() => {});
  if (reached !== before) throw new Error("a breaker that should be open is not");
}

async function closed(): Promise<Comparison[]> {
  const bare: Loop = async (calls) => {
    for (let call = 0; call < calls; call++) await inventory("H1");
  };

  const breaker = new CircuitBreaker(settings);
  const wrapped = breaker.wrap(inventory);
  const policy = cockatielBreaker();
  const opossum = new Opossum(inventory, { ...opossumSettings, timeout: false });

  const wrappedUntimed = new CircuitBreaker(untimed).wrap(inventory);
  const policyUntimed = cockatielUntimed();
  const opossumUntimed = new Opossum(inventory, { ...opossumClassified, timeout: false });
  opossumUntimed.fallback(lastGood);

  const wrappedEvery = new CircuitBreaker(every).wrap(inventory);
  const policyEvery = cockatielEvery();
  const opossumEvery = new Opossum(inventory, { ...opossumClassified, timeout: TIMEOUT });
  opossumEvery.fallback(lastGood);

  return [
    {
      title: "Closed, the breaker alone",
      subjects: [
        { by: "bare", what: "`await f(x)`", loop: bare },
        {
          by: "breaker-wasm",
          what: "`wrap`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await wrapped("H1");
          },
        },
        {
          by: "breaker-wasm",
          what: "`call`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await breaker.call(() => inventory("H1"));
          },
        },
        {
          by: "cockatiel",
          what: "`circuitBreaker`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await policy.execute(() => inventory("H1"));
          },
        },
        {
          by: "opossum",
          what: "`timeout: false`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await opossum.fire("H1");
          },
        },
      ],
    },
    {
      title: "Closed, with classifier and fallback",
      subjects: [
        { by: "bare", what: "`await f(x)`", loop: bare },
        {
          by: "breaker-wasm",
          what: "`wrap`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await wrappedUntimed("H1");
          },
        },
        {
          by: "cockatiel",
          what: "`wrap` of two policies",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) {
              await policyUntimed.execute(() => inventory("H1"));
            }
          },
        },
        {
          by: "opossum",
          what: "`fallback`, `errorFilter`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await opossumUntimed.fire("H1");
          },
        },
      ],
    },
    {
      title: "Closed, with classifier, fallback and timeout",
      subjects: [
        { by: "bare", what: "`await f(x)`", loop: bare },
        {
          by: "breaker-wasm",
          what: "`wrap`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await wrappedEvery("H1");
          },
        },
        {
          by: "cockatiel",
          what: "`wrap` of three policies",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) {
              await policyEvery.execute(() => inventory("H1"));
            }
          },
        },
        {
          by: "opossum",
          what: "`fallback`, `errorFilter`, `timeout`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await opossumEvery.fire("H1");
          },
        },
      ],
    },
  ];
}

async function open(): Promise<Comparison[]> {
  const wrapped = new CircuitBreaker(settings).wrap(failing);
  await opened(() => wrapped("H1"));
  const policy = cockatielBreaker();
  await opened(() => policy.execute(() => failing("H1")));
  const opossum = new Opossum(failing, { ...opossumSettings, timeout: false });
  await opened(() => opossum.fire("H1"));

  const wrappedEvery = new CircuitBreaker(every).wrap(failing);
  await opened(() => wrappedEvery("H1"));
  const policyEvery = cockatielEvery();
  await opened(() => policyEvery.execute(() => failing("H1")));
  const opossumEvery = new Opossum(failing, { ...opossumClassified, timeout: TIMEOUT });
  opossumEvery.fallback(lastGood);
  await opened(() => opossumEvery.fire("H1"));

  return [
    {
      title: "Open: the call is refused, the error caught",
      subjects: [
        {
          by: "bare",
          what: "`await f(x)`, which throws an error made before",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) {
              try {
                await failing("H1");
              } catch {}
            }
          },
        },
        {
          by: "breaker-wasm",
          what: "`wrap`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) {
              try {
                await wrapped("H1");
              } catch {}
            }
          },
        },
        {
          by: "cockatiel",
          what: "`circuitBreaker`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) {
              try {
                await policy.execute(() => failing("H1"));
              } catch {}
            }
          },
        },
        {
          by: "opossum",
          what: "`timeout: false`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) {
              try {
                await opossum.fire("H1");
              } catch {}
            }
          },
        },
      ],
    },
    {
      title: "Open, with all of them: the fallback answers",
      subjects: [
        {
          by: "bare",
          what: "`await f(x)`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await inventory("H1");
          },
        },
        {
          by: "breaker-wasm",
          what: "`wrap`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await wrappedEvery("H1");
          },
        },
        {
          by: "cockatiel",
          what: "`wrap` of three policies",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) {
              await policyEvery.execute(() => failing("H1"));
            }
          },
        },
        {
          by: "opossum",
          what: "`fallback`, `errorFilter`, `timeout`",
          loop: async (calls) => {
            for (let call = 0; call < calls; call++) await opossumEvery.fire("H1");
          },
        },
      ],
    },
  ];
}

/** All of it, each breaker in the state that its comparison is about. */
export async function comparisons(): Promise<Comparison[]> {
  return [...(await closed()), ...(await open())];
}
