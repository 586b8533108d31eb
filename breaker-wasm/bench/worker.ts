// The worker that is measured: a request names a subject and how many calls it makes.

import type { Comparison } from "./subjects.js";

/** Made in the first request: cockatiel can be loaded in none but one, and opossum starts a timer. */
let made: Comparison[] | undefined;

export default {
  async fetch(request: Request): Promise<Response> {
    made ??= await (await import("./subjects.js")).comparisons();
    const query = new URL(request.url).searchParams;
    const subject = made[Number(query.get("comparison"))]?.subjects[Number(query.get("subject"))];
    if (subject === undefined) return new Response("no such subject", { status: 404 });
    await subject.loop(Number(query.get("calls")));
    return new Response();
  },
};
