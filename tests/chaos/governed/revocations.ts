/** Callers whose right ends in the middle of their calls: a token is taken back, or a grant is. */
import { setTimeout as wait } from "node:timers/promises";
import type { Execution, Tally } from "../outcome.ts";
import { Api } from "./api.ts";
import { Calls } from "./calls.ts";
import type { People } from "./people.ts";

/** What was taken back, and when that was acknowledged. `from`: no call that is sent from then on may be made. */
type Ended = { readonly what: string; readonly from: number; readonly calls: ReadonlyMap<string, number> };

const PROMPT_MS = 1_000;
/** Where a message may have been lost. */
const LATE_MS = 5_000;
const KIND = "calls of those who may not any more";

export class Revocations {
  readonly ended: Ended[] = [];
  /** Ids of tokens whose end was acknowledged. */
  readonly tokens: string[] = [];
  readonly #origin: string;
  readonly #people: People;
  readonly #tally: Tally;
  #isOver = false;
  #count = 0;
  #loops: Promise<void>[] = [];

  /** While this is true messages between gateways may be lost. */
  isBusCut = false;

  constructor(origin: string, people: People, tally: Tally) {
    this.#origin = origin;
    this.#people = people;
    this.#tally = tally;
  }

  start(changesPolicy: boolean): void {
    const forever = async (once: () => Promise<void>) => {
      while (!this.#isOver) await once();
    };
    this.#loops = [forever(() => this.#revokeToken())];
    if (changesPolicy) this.#loops.push(forever(() => this.#denyForAWhile()));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  /** No call that was sent too late was made. */
  judge(executions: readonly Execution[]): void {
    const made = new Set(executions.map(({ mark }) => mark));
    for (const { what, from, calls } of this.ended) {
      for (const [mark, sentAt] of calls) {
        if (sentAt <= from) continue;
        if (made.has(mark)) this.#tally.violate(`${mark} was made ${sentAt - from} ms too late: ${what}`);
      }
    }
  }

  async #revokeToken(): Promise<void> {
    const { root, attempts } = this.#people;
    const number = ++this.#count;
    const order = { user: `guest${number}`, tenant: "acme" };
    const { body } = await root.insist("POST", "/api/tokens", order);
    const caller = { token: String(body.token), attempts };
    await this.#callUntil(`revoked${number}`, caller, async () => {
      await root.insist("DELETE", `/api/tokens/${String(body.id)}`);
      this.tokens.push(String(body.id));
      return `the token of ${order.user} was revoked`;
    });
  }

  async #denyForAWhile(): Promise<void> {
    const olga = new Api(this.#origin, this.#people.of("olga").token);
    const place = { entry_type: "tool_grant", agent_id: "cat", server_id: "modern", tool_name: "add" };
    await this.#callUntil(`denied${++this.#count}`, this.#people.of("cat"), async () => {
      await olga.insist("POST", "/api/access/grant", { ...place, permission: "deny" });
      return "cat was denied the tool";
    });
    await olga.insist("POST", "/api/access/revoke", place);
    // The others hear of it in a moment.
    await wait(PROMPT_MS);
  }

  /** Calls all the time, before and after `end`. */
  async #callUntil(name: string, caller: Parameters<typeof callOn>[2], end: () => Promise<string>): Promise<void> {
    const calling = callOn(this.#origin, name, caller, (code) => this.#tally.note(KIND, code));
    await wait(700);
    const wasCut = this.isBusCut;
    const what = await end();
    const graceMs = wasCut || this.isBusCut ? LATE_MS : PROMPT_MS;
    const from = Date.now() + graceMs;
    await wait(graceMs + 1_000);
    this.ended.push({ what, from, calls: await calling.stop() });
  }
}

/** `stop` resolves with when which mark was sent. */
function callOn(
  origin: string,
  name: string,
  caller: ConstructorParameters<typeof Calls>[2],
  see: (code: string) => void,
) {
  const calls = new Calls(origin, name, caller);
  const sent = new Map<string, number>();
  let isOver = false;
  const loop = (async () => {
    for (let number = 1; !isOver; number++) {
      const mark = `${name}-${number}`;
      sent.set(mark, Date.now());
      see((await calls.call("modern.add", { mark })).code);
      await wait(25);
    }
  })();
  return {
    async stop() {
      isOver = true;
      await loop;
      calls.close();
      return sent;
    },
  };
}
