/** How clients of 2026-07-28 hear what happens outside their calls: on the streams they listen on, and nowhere else. */
import type { Catalog } from "../../../contract/index.ts";
import type { Voice } from "../../../mechanisms/sessions/index.ts";
import type { Listeners } from "./listeners.ts";
import { negative } from "./questions.ts";
import type { Rounds } from "./rounds.ts";

export function createModernVoice(catalog: Catalog, listeners: Listeners, rounds: Rounds): Voice {
  return {
    notice(session, notice) {
      if (notice.method === "notifications/resources/updated") listeners.updated(session, notice);
      else if (notice.method === "notifications/elicitation/complete") rounds.visited(session, notice.payload);
      return undefined;
    },
    listChanged(session, notice) {
      listeners.listChanged(session, notice);
      return [];
    },
    // There is no way to ask such a client anything outside a call.
    answer: (session, ask) => negative(ask, rounds.rootsOf(session)),
    question: () => undefined,
    withdrawal: () => "",
    ended: (session, reason) => catalog.leave(session, reason),
  };
}
