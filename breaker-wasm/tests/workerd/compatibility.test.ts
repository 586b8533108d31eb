// A worker that is deployed for a runtime of before `FinalizationRegistry`: nothing but memory of
// breakers that are forgotten depends on it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Isolate } from "./isolate.js";

const PROGRAM = `
  import { CircuitBreaker, KeyedCircuitBreakers } from "breaker-wasm";

  const fates = async (call: (f: () => Promise<string>) => Promise<string>) => {
    const said: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      await call(async () => { throw new Error("down"); }).catch((error) => said.push(error.name));
    }
    return said.join(" ");
  };

  export default {
    async fetch(): Promise<Response> {
      const one = new CircuitBreaker({ name: "one", threshold: 2 });
      const keys = new KeyedCircuitBreakers({ name: "keys", threshold: 2, maxKeys: 10 });
      const said = [typeof FinalizationRegistry, await fates((f) => one.call(f))];
      said.push(await fates((f) => keys.call("down", f)));
      for (let n = 0; n < 1000; n += 1) await keys.call(\`h\${n}\`, () => n);
      said.push(await fates((f) => keys.call("down", f)), String(keys.size));
      return Response.json(said);
    },
  };
`;

const OPENS = "Error Error CircuitOpenError";
const IS_OPEN = "CircuitOpenError CircuitOpenError CircuitOpenError";

for (const [compatibilityDate, registry] of [
  ["2024-01-01", "undefined"],
  ["2026-04-01", "function"],
] as const) {
  test(`as of ${compatibilityDate}`, async (context) => {
    const isolate = await Isolate.of(PROGRAM, { compatibilityDate });
    context.after(() => isolate.stop());
    const { body } = await isolate.ask("/");
    assert.deepEqual(JSON.parse(body), [registry, OPENS, OPENS, IS_OPEN, "10"]);
    assert.deepEqual(isolate.complaints, []);
  });
}
