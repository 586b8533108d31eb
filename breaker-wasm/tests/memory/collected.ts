/** Garbage that was collected, and what follows. Needs `node --expose-gc`. */

import { setImmediate } from "node:timers/promises";

/** Collects garbage until `done`, or as often as it can make a difference. */
export async function collected(done: () => boolean): Promise<boolean> {
  for (let time = 0; time < 20; time += 1) {
    // What a job has looked at is held until its end.
    await setImmediate();
    globalThis.gc!();
    // What is registered for it runs as tasks of its own, and may set more free.
    await setImmediate();
    if (done()) return true;
  }
  return false;
}

/** Whether nobody holds it any more. */
export function isCollected(reference: WeakRef<object>): Promise<boolean> {
  return collected(() => reference.deref() === undefined);
}

/** Whether somebody holds it, as far as collecting garbage can tell. */
export async function isHeld(reference: WeakRef<object>): Promise<boolean> {
  // Something that nobody holds shows that garbage was collected.
  const other = new WeakRef({});
  return (await isCollected(other)) && (await isCollected(new WeakRef({}))) && !!reference.deref();
}
