/**
 * The page's one world, and its timers: the build puts them in the place of the global ones, in the
 * package as well, whose `timeout` so runs on the same clock as everything else here.
 */

import { World } from "./world.js";

export const world = new World();

export const setTimeout = (run: () => void, delay = 0): number => world.after(delay, run);
export const clearTimeout = (id: number | undefined): void => world.cancel(id);
