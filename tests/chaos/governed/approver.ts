/** Somebody with the operator's key, who decides about whatever waits in one tenant, through whichever gateway answers. */
import { createHash, type KeyObject } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { signProof } from "../../../src/cli/operator/sign-proof.ts";
import { GATED } from "../outcome.ts";
import { Api, type ApiAnswer } from "./api.ts";

type Waiting = Readonly<Record<string, unknown>> & {
  readonly confirmation_id: string;
  readonly arguments: { readonly mark?: string };
};
type Word = "approve" | "deny";

/** Somebody's word about one approval. */
export type Decision = {
  readonly id: string;
  readonly mark: string;
  readonly word: Word;
  readonly sentAt: number;
  /** What the gateway made of it: dispatched, approved, denied; a reason why not; or "" where nobody has answered. */
  said: string;
};

const LOOK_MS = 100;

export class Approver {
  readonly decisions: Decision[] = [];
  readonly #api: Api;
  readonly #key: KeyObject;
  #isOver = false;
  #loop: Promise<void> | undefined;

  constructor(origin: string, token: string, key: KeyObject) {
    this.#api = new Api(origin, token);
    this.#key = key;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const { status, body } = await this.#api.ask("GET", "/api/approvals?state=waiting");
      const waiting = status === 200 ? (body.approvals as readonly Waiting[]) : [];
      const meant = waiting.filter(({ arguments: { mark } }) => mark?.startsWith(GATED));
      await Promise.all(meant.map((one) => this.#decide(one)));
      await wait(LOOK_MS);
    }
  }

  /** What is said about a mark is the same whenever it comes; about some, both is said at once. */
  async #decide(waiting: Waiting): Promise<void> {
    const words = wordsAbout(waiting.arguments.mark ?? "");
    await Promise.all(words.map((word) => this.say(waiting, word)));
  }

  async say(waiting: Waiting, word: Word): Promise<Decision> {
    const id = waiting.confirmation_id;
    const decision: Decision = { id, mark: waiting.arguments.mark ?? "", word, sentAt: Date.now(), said: "" };
    this.decisions.push(decision);
    const value = signProof({ file: "", key: this.#key }, { ...waiting }, word);
    const proof = { type: "operator_signature", format: "jws", value };
    const params = { confirmation_id: id, decision: word, proof };
    const answer = await this.#api.ask("POST", "/mcpax/confirm", {
      ...{ jsonrpc: "2.0", id: 1, method: "mcpax/confirm", params },
    });
    decision.said = saidIn(answer);
    return decision;
  }
}

export function wordsAbout(mark: string): readonly Word[] {
  const chance = createHash("sha256").update(mark).digest()[0] ?? 0;
  if (chance < 50) return ["deny"];
  return chance < 80 ? ["approve", "deny"] : ["approve"];
}

function saidIn({ status, body }: ApiAnswer): string {
  const { result, error } = body as {
    result?: { status: string };
    error?: { message: string; data?: { reason?: string } };
  };
  if (status !== 200) return "";
  return result?.status ?? `refused: ${error?.data?.reason ?? error?.message}`;
}
