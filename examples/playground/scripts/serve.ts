// Serves the page until it is stopped: `cargo xtask playground [PORT]`. A change of a source shows
// when the page is loaded again.

import { serve } from "./page.js";

const [given, ...more] = process.argv.slice(2);
const port = given === undefined ? undefined : Number(given);
if (
  more.length > 0 ||
  (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536))
) {
  console.error("usage: serve.ts [PORT]: a port is a whole number from 1 to 65535");
  process.exit(2);
}
try {
  const { url } = await serve(port);
  console.log(`the playground is at ${url} (Ctrl+C ends it)`);
} catch (error) {
  console.error(`can't serve the playground: ${(error as Error).message}`);
  process.exit(1);
}
