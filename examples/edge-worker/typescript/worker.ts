// An edge worker that tells how many rooms a hotel has free. It asks the hotel's
// property-management system (PMS), and goes on answering where that is down.
import { badRequest, failure, misconfigured, of } from "./answer.ts";
import { Pms, isHotel } from "./pms.ts";

interface Env {
  /** Where the PMS is: `https://pms.example`. */
  PMS_URL?: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const route = /^\/inventory\/([^/]*)$/.exec(new URL(request.url).pathname);
    if (!route) {
      return failure(404, "not found");
    }
    if (request.method !== "GET") {
      return failure(405, "method not allowed");
    }
    const hotel = decoded(route[1] ?? "");
    if (!isHotel(hotel)) {
      return badRequest("a hotel's name is 1 to 40 letters, digits, `-` or `_`");
    }
    const pms = Pms.at(env.PMS_URL);
    return pms ? of(hotel, pms) : misconfigured("PMS_URL");
  },
};

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
