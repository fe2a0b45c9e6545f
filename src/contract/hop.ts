import type { HttpRequest, HttpResponse } from "./http.ts";
import type { Member } from "./shared-state.ts";

/**
 * Names the server that a process wants at its home: one that is not its home must not send the request on. Never goes
 * along with what is handed over for a client.
 */
export const HOME_HEADER = "isthmus-hop-home";

/**
 * In `_meta` of the lists that a home shows to other processes: what it knows of the server itself, as they know of servers that run
 * in them. Nobody else gets to see it.
 */
export const HOME_FACTS_KEY = "dev.isthmus/home";

/** How a request ended that was handed to another process. lost: that process is gone; `wasSent`: it may have acted on it. */
export type HopEnd = { readonly type: "answered" } | { readonly type: "lost"; readonly wasSent: boolean };

/** The way to the other processes: mutually authenticated, and nobody else's. */
export interface Hop {
  /** Who we are to the others. */
  readonly self: Member;
  /**
   * Hands a request to the process where what it speaks of lives, and its answer back as it comes. On `lost` with nothing
   * answered yet the response is untouched and the caller's again; an answer that broke off in the middle is cut.
   */
  forward(request: HttpRequest, body: string, response: HttpResponse, to: Member): Promise<HopEnd>;
  /** How many processes this request passed before it came here. */
  passed(request: HttpRequest): number;
}
