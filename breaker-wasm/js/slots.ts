/** Whose the module's slots are: the number of one that nobody holds any more is given out again. */

import { wasm } from "./module.js";

const forgotten =
  typeof FinalizationRegistry === "undefined"
    ? undefined
    : new FinalizationRegistry<number>((number) => wasm.free(number));

/** Gives the number back when nobody holds `owner` any more. */
export function giveBack(owner: object, number: number): void {
  forgotten?.register(owner, number, owner);
}

/** Gives the number back at once: nobody but who calls this holds `owner`. */
export function giveBackNow(owner: object, number: number): void {
  forgotten?.unregister(owner);
  wasm.free(number);
}
