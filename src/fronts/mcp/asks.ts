/** Questions to the client: who may be asked what, and how a question looks on the wire. */
import {
  type Answer,
  type Ask,
  type AskKind,
  JsonFault,
  membersAt,
  type Payload,
  payload,
  type Run,
} from "../../contract/index.ts";
import type { Session } from "../../mechanisms/sessions/index.ts";
import { requestText } from "../../wire/jsonrpc/index.ts";
import { olderQuestion } from "../../wire/mcp/bridge/index.ts";
import { LATEST_REVISION, RELATED_TASK } from "../../wire/mcp/index.ts";

/** What a client must have declared to be asked this. Others pass: we do not know what they need. */
const NEEDED: Readonly<Partial<Record<AskKind, string>>> = {
  elicit: "elicitation",
  sample: "sampling",
  roots: "roots",
};

/** What we write into a question. All else of it goes to the client byte for byte, whatever its readers make of it. */
const OURS = ["progressToken", RELATED_TASK];

/** The question as this client's revision has it; undefined when the client cannot be asked it. */
export function askFor(session: Session, ask: Ask): Ask | undefined {
  const needed = NEEDED[ask.kind];
  if (needed !== undefined && !declares(session.capabilities, needed)) return undefined;
  if (!OURS.every((name) => isUnambiguous(ask.input, ["_meta", name]))) return undefined;
  if (ask.kind !== "elicit" || session.protocol === LATEST_REVISION.version) return ask;
  const input = olderQuestion(ask.input, session.protocol);
  return input && { ...ask, input };
}

function isUnambiguous(input: Payload, path: readonly string[]): boolean {
  try {
    input.at(path);
    return true;
  } catch (error) {
    if (error instanceof JsonFault) return false;
    throw error;
  }
}

/** Whether a client with these capabilities can be asked anything at all. */
export function canBeAsked(capabilities: Payload): boolean {
  return Object.values(NEEDED).some((name) => declares(capabilities, name));
}

function declares(capabilities: Payload, name: string): boolean {
  const value = membersAt(capabilities.text, 0)?.textOf(name);
  return value !== undefined && value !== "null" && value !== "false";
}

/** The question under our id. Progress about it is asked for under the same id. */
export function askText(id: string, ask: Ask): string {
  const hasToken = ask.input.at(["_meta", "progressToken"]) !== undefined;
  return requestText(id, ask.method, hasToken ? ask.input.splice(["_meta", "progressToken"], id) : ask.input);
}

/** Tells whoever asks that this client cannot be asked, so that it can do without. */
export function refuseAsk(run: Run, ask: Ask): void {
  // Not at once: whoever asks is still in the middle of writing the question.
  queueMicrotask(() => run.reply({ type: "answer", answers: [refusalOf(ask)] }));
}

export function refusalOf({ key, kind }: Ask): Answer {
  const fault = payload(`{"code":-32601,"message":"The client does not support ${kind} requests here"}`);
  return { key, outcome: "fault", payload: fault };
}
