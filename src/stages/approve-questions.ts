/** What the caller of a call that waits is asked: for a plain yes or no, or to open the page on which it is decided. */
import {
  type Answer,
  type Approval,
  type Ask,
  type Call,
  jsonText,
  type Out,
  type Payload,
  payload,
  type StagedRun,
  showUnseen,
  type Verb,
} from "../contract/index.ts";
import { decidedText, type PageToVisit, toolText } from "../mechanisms/approvals/index.ts";

/** Whether the client has said that it shows its user forms, and all that they would decide about fits into one. */
export function opensForms({ session }: Call, asked: Approval): boolean {
  const elicitation = session?.capabilities.at(["elicitation"]);
  if (!elicitation?.startsWith("{")) return false;
  const modes = payload(elicitation);
  // A client that names no mode has the one that there was before there were two.
  const hasForms = modes.at(["form"]) !== undefined || modes.at(["url"]) === undefined;
  return hasForms && shownText(asked).length <= MAX_SHOWN;
}

/** Calls in the middle of which every client can be asked something. */
const ASKABLE: ReadonlySet<Verb> = new Set<Verb>(["call", "read", "get"]);

/** Whether the client has said that it shows its user pages to open, and can be asked to. */
export function opensPages({ session, verb }: Call): boolean {
  return ASKABLE.has(verb) && session?.capabilities.at(["elicitation", "url"])?.startsWith("{") === true;
}

const SCHEMA = {
  type: "object",
  properties: { decision: { type: "string", title: "Decision", enum: ["confirm", "cancel"] } },
  required: ["decision"],
};

/** In characters. Nobody says yes to what they see a part of: the caller would choose which. */
const MAX_SHOWN = 2_000;

function shownText(asked: Approval): string {
  const { given, also } = decidedText(asked);
  return showUnseen(also === undefined ? given : `${given} also sent: ${also}`);
}

export function formQuestion(asked: Approval): Ask {
  const message = `${showUnseen(toolText(asked))} does something that may not be taken back. It would be called with: ${shownText(asked)}`;
  return questionOf(asked.id, { mode: "form", message, requestedSchema: SCHEMA });
}

export function visitQuestion(page: PageToVisit): Ask {
  return questionOf(page.elicitationId, { mode: "url", ...page });
}

function questionOf(id: string, question: object): Ask {
  const input = payload(jsonText(question));
  return { key: `approval ${id}`, kind: "elicit", method: "elicitation/create", input };
}

/** Only a plain yes is one. */
export function isConfirmed(answer: Payload): boolean {
  return isAccepted(answer) && answer.at(["content", "decision"]) === '"confirm"';
}

/** The user has opened the page: nothing more. */
export function isAccepted(answer: Payload): boolean {
  return answer.at(["action"]) === '"accept"';
}

/** A question that a stage puts itself, before anybody else has the call. */
export class OwnQuestion {
  readonly #run: StagedRun;
  readonly #out: Out;
  readonly #ask: Ask;

  constructor(run: StagedRun, out: Out, ask: Ask) {
    this.#run = run;
    this.#out = out;
    this.#ask = ask;
  }

  /** Resolves with the answer; never where nobody gives one. */
  put(): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#run.onAnswers = (answers) => {
      const mine = answers.find(({ key }) => key === this.#ask.key);
      if (mine) resolve(mine);
    };
    this.#out.write({ type: "ask", asks: [this.#ask] });
    return promise;
  }

  /** Nobody needs to answer any more. */
  takeBack(): void {
    const { key } = this.#ask;
    this.#out.write({ type: "notice", method: "notifications/cancelled", payload: payload("{}"), key });
  }

  /** Safe to call twice. */
  close(): void {
    this.#run.onAnswers = undefined;
  }
}
