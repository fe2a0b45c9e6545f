/** What an operator wants of something that may live in another process: said to all, and done by the one that has it. */
import { type Channel, isSeenBy } from "../../contract/index.ts";
import { sessionName } from "../../mechanisms/sessions/index.ts";
import type { LiveParts } from "./live-parts.ts";

/** `id`: of a call, or the name of a session. `tenant`: only of that one; undefined: of any. */
export type Word = { readonly id: string; readonly tenant: string | undefined } & (
  | { readonly do: "end-session" }
  | { readonly do: "cancel-call"; readonly reason: string }
);

const TOPIC = "operators";

export class WordsToAll {
  readonly #live: LiveParts;
  readonly #channel: Channel | undefined;
  #stopHearing: (() => Promise<void>) | undefined;

  constructor(live: LiveParts) {
    this.#live = live;
    this.#channel = live.channel;
  }

  async open(): Promise<void> {
    this.#stopHearing = await this.#channel?.subscribe(TOPIC, (text) => this.#hear(text)).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#stopHearing?.().catch(() => undefined);
    this.#stopHearing = undefined;
  }

  readonly tell = (word: Word): void => this.#channel?.publish(TOPIC, JSON.stringify(word));

  #hear(text: string): void {
    const word = readWord(text);
    if (!word) return;
    const { sessions, runs } = this.#live;
    if (word.do === "end-session") {
      const isMeant = (one: ReturnType<typeof sessions.list>[number]) =>
        sessionName(one.id) === word.id && isSeenBy(one.principal, word.tenant);
      sessions.endWhere(isMeant, "an operator ended the session");
    } else {
      for (const run of runs())
        if (run.id === word.id && isSeenBy(run.call.principal, word.tenant)) run.cancel(word.reason);
    }
  }
}

/** Undefined: it is none that this process knows; another may be newer. */
function readWord(text: string): Word | undefined {
  try {
    const word = JSON.parse(text) as Word;
    return word.do === "end-session" || word.do === "cancel-call" ? word : undefined;
  } catch {
    return undefined;
  }
}
