// The program that is measured in Node; it gets the effort, and prints the tables.

import { compare, time } from "./compare.js";
import type { Effort } from "./measure.js";

const effort = JSON.parse(process.argv[2] ?? "") as Effort;
const timing = (_comparison: number, _subject: number, loop: (calls: number) => Promise<void>) => {
  return (calls: number) => time(() => loop(calls));
};
console.log(JSON.stringify(await compare(timing, effort)));
