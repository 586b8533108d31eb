// Starts a half by hand, beside a PMS that can be told to fail.
import { Pms, MODES } from "./pms.ts";
import { HALVES, start } from "./worker.ts";

const [name, built] = process.argv.slice(2);
const half = HALVES.find((half) => half === name);
if (half === undefined || built === undefined) {
  console.error(`usage: run.ts (${HALVES.join(" | ")}) FOLDER`);
  process.exit(2);
}

const pms = new Pms();
const pmsUrl = await pms.start(8788).catch(refused);
const worker = await start({ half, built, pmsUrl, port: 8787 });
const url = (await worker.ready.catch(refused)).origin;

console.log(`The worker in ${half}, and a PMS on loopback. Ask it, break it, ask again:

  curl -i ${url}/inventory/H1
  curl -X POST ${pmsUrl}/be/(${MODES.join("|")})

Ctrl-C ends it. The PMS was asked:`);

let told = 0;
for await (const _ of arrivals()) {
  for (const asked of pms.log.slice(told)) {
    console.log(`  ${asked.hotel}: ${asked.status ?? "no answer"}`);
  }
  told = pms.log.length;
}

async function* arrivals(): AsyncGenerator<void> {
  for (;;) {
    yield await pms.arrival();
  }
}

function refused(why: unknown): never {
  console.error(`can't start: ${why instanceof Error ? why.message : String(why)}`);
  process.exit(1);
}
