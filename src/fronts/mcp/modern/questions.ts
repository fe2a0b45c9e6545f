/** Questions of servers in a call: what a client must declare to be asked, how they look, and our own answers to them. */
import {
  type Answer,
  type Ask,
  decodeString,
  jsonText,
  type Payload,
  payload,
  type Run,
} from "../../../contract/index.ts";

type JsonObject = Record<string, unknown>;

/** What the client would have to declare to be asked this; undefined: it does. Of other kinds nobody can be asked. */
export function missingFor(ask: Ask, profile: Payload): JsonObject | undefined {
  const needed = neededFor(ask);
  return needed && !declares(profile.value(), needed) ? needed : undefined;
}

/** As a client would declare it. */
function neededFor({ kind, input }: Ask): JsonObject | undefined {
  if (kind === "roots") return { roots: {} };
  if (kind === "elicit") return { elicitation: { [modeOf(input)]: {} } };
  if (kind !== "sample") return undefined;
  const tools = input.at(["tools"]) !== undefined || input.at(["toolChoice"]) !== undefined;
  const context = (decodeString(input.at(["includeContext"])) ?? "none") !== "none";
  return { sampling: { ...(tools && { tools: {} }), ...(context && { context: {} }) } };
}

function modeOf(input: Payload): string {
  return decodeString(input.at(["mode"])) === "url" ? "url" : "form";
}

function declares(declared: unknown, needed: JsonObject): boolean {
  return Object.entries(needed).every(([key, inner]) => {
    const value = typeof declared === "object" && declared !== null ? (declared as JsonObject)[key] : undefined;
    return typeof value === "object" && value !== null && declares(value, inner as JsonObject);
  });
}

/** Several requirements as one. */
export function joinRequirements(all: readonly JsonObject[]): JsonObject {
  const joined: Record<string, JsonObject> = {};
  for (const one of all) {
    for (const [key, inner] of Object.entries(one)) joined[key] = { ...joined[key], ...(inner as JsonObject) };
  }
  return joined;
}

/** Kinds that have a form in this era. */
export function hasForm({ kind }: Ask): boolean {
  return kind === "elicit" || kind === "sample" || kind === "roots";
}

/** The members of `inputRequests`, one for each question. */
export function inputRequestsText(asks: Iterable<Ask>): string {
  return `{${[...asks].map((ask) => `${jsonText(ask.key)}:${requestText(ask)}`).join(",")}}`;
}

function requestText({ kind, method, input }: Ask): string {
  const isBare = input.text === "";
  let params = isBare ? payload("{}") : input.splice(["_meta"]).splice(["task"]);
  if (kind === "elicit" && modeOf(input) === "url") params = params.splice(["elicitationId"]);
  return `{"method":${jsonText(method)},"params":${params.text}}`;
}

/** Tells whoever asks that this client cannot be asked, so that it can do without. */
export function undeclared({ key, kind }: Ask): Answer {
  return fault(key, -32601, `The client does not support ${kind} requests here`);
}

/** The answer where no client can be asked. `roots`: what the caller gave as its roots last. */
export function negative({ key, kind }: Ask, roots?: Payload): Answer {
  if (kind === "elicit") return { key, outcome: "result", payload: payload('{"action":"cancel"}') };
  if (kind === "sample") return fault(key, -1, "The client cannot be asked to sample now");
  if (kind === "roots") return { key, outcome: "result", payload: roots ?? payload('{"roots":[]}') };
  return fault(key, -32601, "The client cannot be asked this");
}

/** The answer to a question whose time is over. */
export function expired(ask: Ask): Answer {
  return ask.kind === "roots" ? fault(ask.key, -32603, "The client did not answer in time") : negative(ask);
}

function fault(key: string, code: number, message: string): Answer {
  return { key, outcome: "fault", payload: payload(jsonText({ code, message })) };
}

/** Not at once: whoever asks is still in the middle of writing the question. */
export function answerLater(run: Run, answer: Answer): void {
  queueMicrotask(() => run.reply({ type: "answer", answers: [answer] }));
}
