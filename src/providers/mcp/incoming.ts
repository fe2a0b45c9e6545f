/**
 * What the server says by itself: which call it belongs to, or which client, or nobody. What cannot be tied to a call or
 * a client never reaches clients of several callers, also where those call through a gateway or a process of ours.
 */
import {
  type AskKind,
  decodeString,
  jsonText,
  type ListedKind,
  MAX_OPEN_ASKS,
  type Notice,
  type Payload,
} from "../../contract/index.ts";
import { answerText, errorText, type Message } from "../../wire/jsonrpc/index.ts";
import { SUBSCRIPTION_ID } from "../../wire/mcp/2026-07-28/index.ts";
import { ASK_METHODS, LIST_CHANGED } from "../../wire/mcp/index.ts";
import { isDialectWord } from "../../wire/mgp/index.ts";
import { EMPTY_OBJECT } from "./empty-object.ts";
import { isTooLarge } from "./large-notice.ts";
import { ACKNOWLEDGED } from "./modern/listen-filter.ts";
import type { RunningCall } from "./running-call.ts";
import type { TaskEntry } from "./task-table.ts";
import { stripRelatedTask } from "./tasks/driven-tasks.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** A question of the server that waits for its answer. */
export type OpenAsk = {
  /** The server's request id as it spelled it. */
  readonly id: string;
  /** The progress token the server gave, as JSON text: progress on the answer goes back under it. */
  readonly token: string | undefined;
  /** What the question takes while it waits. */
  readonly bytes: number;
  key: string;
  /** In which call it was asked; undefined outside any. */
  call?: RunningCall;
  /** Outside any call: withdraws the question. */
  readonly abort?: AbortController;
};

/** The capability that a client declares when it can be asked. */
const ASK_CAPABILITIES: Readonly<Partial<Record<AskKind, string>>> = {
  elicit: "elicitation",
  sample: "sampling",
  roots: "roots",
};

/** `call`: on whose stream it came, where streams are apart. */
export function routeNotification(session: UpstreamSession, message: Message, call: RunningCall | undefined): void {
  if (isTooLarge(message)) return dropLarge(session, message);
  const everywhere = Object.hasOwn(ROUTES, message.method) ? ROUTES[message.method] : undefined;
  const changed = changedKinds(message.method);
  if (everywhere) everywhere(session, message);
  else if (changed.length > 0) session.context.onListChanged(changed);
  else routeOther(session, message, call);
}

function dropLarge({ context }: UpstreamSession, { method, text }: Message): void {
  context.meter.count("isthmus_notices_dropped_total", "too-large");
  context.warnings.tooLarge.note({ method: method.slice(0, 100), bytes: text.length });
}

/** Notifications that say themselves what they belong to, on whichever stream they come. */
const ROUTES: Readonly<Record<string, (session: UpstreamSession, message: Message) => void>> = {
  "notifications/progress": routeProgress,
  "notifications/cancelled": withdrawAsk,
  "notifications/tasks/status": routeTaskStatus,
  "notifications/resources/updated": routeUpdated,
  [ACKNOWLEDGED]: routeAcknowledgement,
};

function routeOther(session: UpstreamSession, message: Message, call: RunningCall | undefined): void {
  const { method } = message;
  const isLog = method === "notifications/message";
  const body = towardsClient(session, message.body);
  const owner = call ?? session.driven.related(message.body)?.running ?? (isLog ? soleOwner(session) : undefined);
  if (!owner) notifyClient(session, method, body);
  else if (isLog) owner.write({ type: "log", payload: body });
  else owner.write({ type: "notice", method, payload: body });
}

/** A task that we see through ourselves is none of the client's business. */
function towardsClient(session: UpstreamSession, body: Payload): Payload {
  return session.driven.related(body) ? stripRelatedTask(body) : session.context.tasks.towardsClient(body);
}

function routeUpdated(session: UpstreamSession, { method, members, body }: Message): void {
  const { host, provider: from } = session.context;
  const uri = decodeString(members?.textOf("uri"));
  if (uri !== undefined) host.notice({ from, to: { resource: uri }, method, payload: withoutSubscription(body) });
}

/** Which of our requests it came on means nothing to anybody else. */
function withoutSubscription(body: Payload): Payload {
  if (!body.text.includes(SUBSCRIPTION_ID)) return body;
  const stripped = body.splice(["_meta", SUBSCRIPTION_ID]);
  return stripped.at(["_meta"]) === "{}" ? stripped.splice(["_meta"]) : stripped;
}

function routeAcknowledgement(session: UpstreamSession, { body }: Message): void {
  session.modern?.listening.onAck(body.at(["_meta", SUBSCRIPTION_ID]));
}

function changedKinds(method: string): readonly ListedKind[] {
  if (!method.endsWith("/list_changed")) return [];
  return (Object.keys(LIST_CHANGED) as ListedKind[]).filter((kind) => LIST_CHANGED[kind] === method);
}

/** The one call in flight, unless what is said might be meant for somebody else: one client's session may be a gateway's. */
function soleOwner(session: UpstreamSession): RunningCall | undefined {
  return session.context.requesters.isOne ? session.onlyCall() : undefined;
}

/** Outside any call: to the client whose session it is; on a shared one only log lines, and only where one principal calls for itself. */
function notifyClient(session: UpstreamSession, method: string, payload: Payload): void {
  const { client, requesters, host, provider: from, meter } = session.context;
  const { principal } = requesters;
  let to: Notice["to"] | undefined;
  if (client) to = { session: client.id };
  else if (method === "notifications/message" && principal !== undefined) to = { principal };
  if (to) host.notice({ from, to, method, payload });
  else meter.count("isthmus_notices_dropped_total", "unattributable");
}

function routeProgress(session: UpstreamSession, message: Message): void {
  const token = message.members?.textOf("progressToken") ?? "";
  const call = session.callOf(token) ?? session.driven.ofToken(token)?.running;
  const task = session.waitingFor(token) ? undefined : session.context.tasks.findToken(token);
  if (call?.token !== undefined) call.progress(message);
  else if (task?.token) {
    notifyOwner(session, task, message.method, message.body.splice(["progressToken"], task.token.theirs));
  } else session.context.meter.count("isthmus_notices_dropped_total", "late");
}

function routeTaskStatus(session: UpstreamSession, message: Message): void {
  const { tasks, meter } = session.context;
  const id = decodeString(message.members?.textOf("taskId")) ?? "";
  const driven = session.driven.find(id);
  const task = tasks.findUpstream(id);
  const body = tasks.towardsClient(message.body);
  if (driven) driven.onStatus(message);
  else if (task) notifyOwner(session, task, message.method, body.splice(["taskId"], jsonText(task.id)));
  else meter.count("isthmus_notices_dropped_total", "unknown-task");
}

function notifyOwner(session: UpstreamSession, task: TaskEntry, method: string, body: Payload): void {
  const { client, host, provider: from } = session.context;
  host.notice({ from, to: client ? { session: client.id } : { principal: task.principal }, method, payload: body });
}

/** The server takes a question back. */
function withdrawAsk(session: UpstreamSession, message: Message): void {
  const id = message.members?.textOf("requestId") ?? "";
  const open = session.asks.get(id);
  session.modern?.listening.onCancelled(id);
  if (!open) return;
  if (open.call) open.call.write({ type: "notice", method: message.method, payload: message.body, key: open.key });
  session.asks.delete(open.id);
  open.abort?.abort();
}

/** A question with images may be long, and is kept until it is answered. */
const MAX_ASK_BYTES = 8 * 1024 * 1024;
/** Of all that wait in one session. */
const MAX_OPEN_BYTES = 16 * 1024 * 1024;
const TOO_LARGE = {
  code: -32603,
  message: `A question has at most ${MAX_ASK_BYTES} bytes, and those that wait have ${MAX_OPEN_BYTES} together.`,
};
const TOO_MANY = { code: -32603, message: `More than ${MAX_OPEN_ASKS} questions wait for the client already.` };

/** `call`: on whose stream it came, where streams are apart. */
export function routeRequest(session: UpstreamSession, message: Message, call: RunningCall | undefined): void {
  const { client } = session.context;
  const kind = (Object.hasOwn(ASK_METHODS, message.method) && ASK_METHODS[message.method]) || "raw";
  const capability = ASK_CAPABILITIES[kind];
  const owner = call ?? session.driven.related(message.body)?.running;
  // A server speaks these words with us, or with nobody.
  const isForClient = !isDialectWord(message.method);
  const isDeclared =
    isForClient && client && (capability === undefined || client.capabilities.at([capability]) !== undefined);
  if (session.modern) session.context.log.debug("server asks what it may not ask", { method: message.method });
  else if (message.method === "ping") void session.answer(answerText(message.id, "result", EMPTY_OBJECT));
  else if (isDeclared && session.asks.size >= MAX_OPEN_ASKS) void session.answer(errorText(message.id, TOO_MANY));
  else if (isDeclared && !hasRoomFor(session, message)) void session.answer(errorText(message.id, TOO_LARGE));
  else if (isDeclared && !session.asks.has(message.id)) openAsk(session, message, kind, owner);
  else refuseRequest(session, message, owner ?? soleOwner(session), capability);
}

function hasRoomFor({ asks }: UpstreamSession, { text }: Message): boolean {
  let open = text.length;
  if (open > MAX_ASK_BYTES) return false;
  for (const { bytes } of asks.values()) open += bytes;
  return open <= MAX_OPEN_BYTES;
}

/** A server that can do without goes on; with one that cannot, the call's end says why. */
function refuseRequest(
  session: UpstreamSession,
  message: Message,
  owner: RunningCall | undefined,
  capability: string | undefined,
): void {
  // Where the session is shared, the caller may have declared what the session has not.
  const isDeclared = capability === undefined || owner?.call.session?.capabilities.at([capability]) !== undefined;
  if (!isDeclared) owner?.refuse(message);
  void session.answer(errorText(message.id, { code: -32601, message: "The client has not declared this." }));
}

function openAsk(session: UpstreamSession, message: Message, kind: AskKind, call: RunningCall | undefined): void {
  const { tasks } = session.context;
  const task = tasks.related(message.body);
  const owner = call ?? (task && session.callAbout(task.id));
  const token = message.body.text.includes('"progressToken"') ? message.body.at(["_meta", "progressToken"]) : undefined;
  const ask = { kind, method: message.method, input: towardsClient(session, message.body) };
  const bytes = message.text.length;
  const open: OpenAsk = owner
    ? { id: message.id, token, bytes, key: "" }
    : { id: message.id, token, bytes, key: session.takeKey(), abort: new AbortController() };
  session.asks.set(open.id, open);
  if (owner) owner.ask(open, ask);
  else
    session.context.leases.decide(session, (found) => {
      if (session.asks.get(open.id) !== open) return; // taken back in the meantime
      if (found) found.ask(open, ask);
      else void askClient(session, open, ask);
    });
}

/** Asks the client outside any call, and answers the server in any case. */
async function askClient(
  session: UpstreamSession,
  open: OpenAsk,
  ask: { kind: AskKind; method: string; input: Payload },
): Promise<void> {
  const { client, host, tasks, log } = session.context;
  const signal = open.abort?.signal;
  if (!client || !signal) return;
  let text: string;
  try {
    const answer = await host.ask(client, { ...ask, key: open.key }, signal);
    text = answerText(open.id, answer.outcome, tasks.towardsServer(answer.payload, client.principal));
  } catch (error) {
    log.debug("question outside a call not answered", { method: ask.method, cause: error });
    text = errorText(open.id, { code: -32603, message: "The client cannot be asked now." });
  }
  if (session.asks.delete(open.id)) await session.answer(text);
}
