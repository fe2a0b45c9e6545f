/** Requests that become calls: finds the target as this caller sees it, puts the provider's own name in, starts the run. */
import {
  type CallOrder,
  decodeString,
  type Entry,
  GatewayError,
  type HeldMessage,
  jsonText,
  type ListedKind,
  type Members,
  ONCE_KEY,
  type Origin,
  type Payload,
  type Principal,
  payload,
  REQUESTER_KEY,
  type TaskRecord,
  type Verb,
  type View,
} from "../../contract/index.ts";
import { MAX_SESSION_TEXT, type Session, type Subscription } from "../../mechanisms/sessions/index.ts";
import { answerText, errorText, type Message } from "../../wire/jsonrpc/index.ts";
import { CALL_ROUTES, type CallRoute, COMPLETE_REFS } from "../../wire/mcp/index.ts";
import { CallReader } from "./call-reader.ts";
import type { FrontContext } from "./front-context.ts";
import { errorAnswer, unknownName } from "./mcp-errors.ts";
import { onceOf } from "./once.ts";
import type { Outlet } from "./outlet.ts";
import type { Posted } from "./posted.ts";
import { requesterIn } from "./requester.ts";

const MAX_SUBSCRIPTIONS = 1000;
const MAX_URI = 8192;
/** As JSON text. Clients count, or take a UUID; of a task the token is kept as long as the task. */
const MAX_TOKEN = 256;

export type Exchange = {
  readonly session: Session;
  /** Who sent it, as proved with this very request. */
  readonly principal: Principal;
  readonly message: Message;
  readonly outlet: Outlet;
  /** Absent on transports without exchanges of their own, and in batches. */
  readonly posted?: Posted;
  /** The trace that its transport names. */
  readonly traceparent?: string;
  /** Of the client, where the log is to name it. */
  readonly address?: string | undefined;
  /** The message, where it counts among what the process holds. */
  readonly held?: HeldMessage | undefined;
};

export function viewOf(front: FrontContext, { session, principal }: Pick<Exchange, "session" | "principal">): View {
  return front.catalog.view(session.catalog, principal, session.isEphemeral ? undefined : session);
}

/** A call on the primitive that `params` names. `begin`: how calls of this kind are started. */
export function callPrimitive(
  front: FrontContext,
  exchange: Exchange,
  route: CallRoute,
  begin: Begin = startCall,
): void {
  const { message } = exchange;
  const key = route.path[0] as string;
  const name = decodeString(message.members?.textOf(key));
  if (name === undefined) return badParams(exchange, `params.${key} must be a string`);
  const entry = resolve(viewOf(front, exchange), route.kinds, name, exchange.principal);
  if (!entry) return unknownTarget(front, exchange, name);
  const own = ownName(entry, name);
  const input = own === name ? message.body : renamed(message, key, own);
  if (route.verb !== "subscribe") return void begin(front, exchange, { entry, verb: route.verb, input });
  subscribe(front, exchange, { entry, verb: route.verb, input }, { provider: entry.target.provider, shown: name, own });
}

/** Whether what a call names is offered already: then it need not wait for servers that are still starting. */
export function isOffered(front: FrontContext, { session, principal, message }: Omit<Exchange, "outlet">): boolean {
  const route = Object.hasOwn(CALL_ROUTES, message.method) ? CALL_ROUTES[message.method] : undefined;
  if (!route || route.verb === "subscribe") return false;
  const name = decodeString(message.members?.textOf(route.path[0] as string));
  return (
    name !== undefined && resolve(viewOf(front, { session, principal }), route.kinds, name, principal) !== undefined
  );
}

/** Completion names a prompt or a template, by its type. */
export function callCompletion(front: FrontContext, exchange: Exchange): void {
  const { message } = exchange;
  const type = decodeString(message.body.at(["ref", "type"])) ?? "";
  const route = Object.hasOwn(COMPLETE_REFS, type) ? COMPLETE_REFS[type] : undefined;
  const name = route && decodeString(message.body.at(route.path));
  if (!route || name === undefined) return badParams(exchange, "params.ref must name a prompt or a resource template");
  const view = viewOf(front, exchange);
  const entry = resolve(
    view,
    route.kind === "template" ? ["template", "resource"] : [route.kind],
    name,
    exchange.principal,
  );
  if (!entry) return unknownTarget(front, exchange, name);
  const own = ownName(entry, name);
  const input = own === name ? message.body : message.body.splice(route.path, jsonText(own));
  startCall(front, exchange, { entry, verb: "complete", input });
}

/** What is started: everything of an order that differs from call to call. */
export type Start = {
  entry: Entry;
  verb: Verb;
  input: Payload;
  resumes?: string;
  cancels?: true;
  task?: TaskRecord;
  timeoutMs?: number;
};

type Begin = (front: FrontContext, exchange: Exchange, start: Start) => unknown;

/** Starts the run and binds it to the outlet. Undefined: the request's id is in use. */
export function startCall(
  front: FrontContext,
  exchange: Exchange,
  start: Start,
  { onEnd, refusal }: Partial<Pick<CallReader, "onEnd" | "refusal">> = {},
): CallReader | undefined {
  const { session, message, outlet } = exchange;
  if (refuseRepeated(exchange)) return undefined;
  const order = orderOf(exchange, start);
  const reader = new CallReader(session, message.id, message.method, tokenOf(message), outlet);
  reader.onEnd = onEnd;
  reader.refusal = refusal;
  session.addRunning(message.id, reader);
  reader.began(front.runs.start(order, reader));
  return reader;
}

/** Whether the request bears the id of one that is not answered yet; it is answered then. */
export function refuseRepeated({ session, message, outlet }: Exchange): boolean {
  const present = session.runningCall(message.id);
  if (!present || present.run?.isEnded === true) return false;
  outlet.answer(errorText(message.id, { code: -32600, message: "A request with this id is still running" }), -1, 400);
  return true;
}

/** Throws BAD_CALL for a name of the call that cannot be one. */
export function orderOf(exchange: Exchange, start: Start): CallOrder {
  const { session, principal, message, posted, held = posted?.held } = exchange;
  const requester = requesterIn(message.members?.textOf("_meta"));
  const named = { ...start, ...nameOf(exchange, start) };
  return {
    ...named,
    ...(requester !== undefined && { input: withoutMeta(named.input, REQUESTER_KEY) }),
    method: message.method,
    principal,
    session,
    origin: requester === undefined ? originOf(exchange) : { ...originOf(exchange), requester },
    life: "resumable",
    ...(held && { held }),
  };
}

function originOf({ session, message, traceparent, address }: Exchange): Origin {
  const origin: Origin = { front: "mcp", protocol: session.protocol, requestId: message.id };
  if (traceparent === undefined && address === undefined) return origin;
  return { ...origin, ...(traceparent !== undefined && { traceparent }), ...(address !== undefined && { address }) };
}

/** The params without this member of `_meta`, and without a `_meta` that has no other. */
function withoutMeta(input: Payload, key: string): Payload {
  const left = input.splice(["_meta", key]);
  return /^\{\s*\}$/.test(left.at(["_meta"]) ?? "") ? left.splice(["_meta"]) : left;
}

/** A subscription is a state of its session, and speaking about a task does nothing: neither is made once. */
function nameOf({ session, message, posted }: Exchange, start: Start): Pick<CallOrder, "once" | "input"> | undefined {
  if (start.resumes !== undefined || start.verb === "subscribe") return undefined;
  const meta = message.members?.textOf("_meta");
  const once = onceOf(meta, posted, session.isEphemeral ? undefined : session);
  return once && { once: once.name, input: once.isInMeta ? start.input.splice(["_meta", ONCE_KEY]) : start.input };
}

export function resolve(view: View, kinds: readonly ListedKind[], name: string, by: Principal): Entry | undefined {
  for (const kind of kinds) {
    const entry = view.resolve(kind, name, by);
    if (entry) return entry;
  }
  return undefined;
}

/** What the provider calls this: for a URI found by template or scheme, the URI without what the view put before it. */
export function ownName(entry: Entry, name: string): string {
  if (entry.name === entry.target.name) return name;
  if (entry.name === name) return entry.target.name;
  const added = entry.name.length - entry.target.name.length;
  const isPrefixed = added > 0 && entry.name.endsWith(entry.target.name) && name.startsWith(entry.name.slice(0, added));
  return isPrefixed ? name.slice(added) : name;
}

/** The params with another name, without walking them again. */
function renamed(message: Message, key: string, own: string): Payload {
  const members = message.members as Members;
  const span = members.spanOf(key);
  if (!span) return message.body;
  const { text, frame } = message.body;
  return payload(
    text.slice(0, span.start - members.start) + jsonText(own) + text.slice(span.end - members.start),
    frame,
  );
}

/** The client's progress token as it spelled it. */
export function tokenOf(message: Message): string | undefined {
  const meta = message.members?.textOf("_meta");
  return meta === undefined ? undefined : tokenIn(meta);
}

/** The progress token in the text of a `_meta` object. Throws BAD_CALL for one that is too long, of whatever kind. */
export function tokenIn(meta: string): string | undefined {
  // Its key may be written with escapes.
  if (!meta.includes('"progressToken"') && !meta.includes("\\")) return undefined;
  const token = payload(meta).at(["progressToken"]);
  if (token !== undefined && token.length > MAX_TOKEN)
    throw new GatewayError("BAD_CALL", { message: `A progress token has at most ${MAX_TOKEN} characters.` });
  return token === undefined || !/^["\d-]/.test(token) ? undefined : token;
}

/** The subscription stands before the call is made: the first update may come before its answer. */
function subscribe(front: FrontContext, exchange: Exchange, start: Start, subscription: Subscription): void {
  const { session, message } = exchange;
  // What two readers could read differently is refused before anything is changed.
  tokenOf(message);
  if (message.method === "resources/unsubscribe") {
    // It takes nothing of any limit: what would change nothing does not reach the server.
    if (!front.sessions.unsubscribe(session, subscription))
      return exchange.outlet.answer(answerText(message.id, "result", payload("{}")));
    return whenSaved(
      front,
      exchange,
      () => void startCall(front, exchange, start),
      () => void front.sessions.subscribe(session, subscription),
    );
  }
  if (subscription.own.length > MAX_URI || (session.subscriptions?.size ?? 0) >= MAX_SUBSCRIPTIONS) {
    const limits = `at most ${MAX_SUBSCRIPTIONS} subscriptions, each of at most ${MAX_URI} characters`;
    return badParams(exchange, `A session has ${limits}`);
  }
  if (!session.isEphemeral && !front.sessions.hasRoomFor(session, [subscription])) return refuseFull(front, exchange);
  const isNew = !session.isEphemeral && front.sessions.subscribe(session, subscription);
  const undo = () => {
    if (isNew) front.sessions.unsubscribe(session, subscription);
  };
  const begin = () => {
    const onEnd = (isSuccess: boolean) => {
      if (isSuccess || !isNew) return;
      undo();
      front.sessions.save(session)?.catch(() => undefined);
    };
    startCall(front, exchange, start, { onEnd });
  };
  whenSaved(front, exchange, begin, undo);
}

/** All of it is written down with the session, and kept in memory. */
function refuseFull(front: FrontContext, { message, outlet }: Exchange): void {
  front.meter.count("isthmus_refused_total", "subscriptions full");
  const most = `A session subscribes to URIs of at most ${MAX_SESSION_TEXT} characters together, and a caller has a share of what all may keep`;
  const error = new GatewayError("OVERLOADED", { message: `${most}: unsubscribe from some.` });
  outlet.answer(errorAnswer(message.id, message.method, error, ""), -1, 503);
}

/** Goes on when what the session is now would survive this process; otherwise the client is told that it would not. */
export function whenSaved(front: FrontContext, exchange: Exchange, goOn: () => void, undo: () => void): void {
  const { session, message, outlet } = exchange;
  const saving = front.sessions.save(session);
  if (!saving) return goOn();
  saving.then(goOn).catch((error) => {
    undo();
    if (!GatewayError.is(error)) front.log.error("request failed inside the gateway", { cause: error });
    outlet.answer(errorAnswer(message.id, message.method, GatewayError.from(error), ""), -1, 503);
  });
}

export function badParams({ message, outlet }: Exchange, text: string): void {
  outlet.answer(errorText(message.id, { code: -32602, message: text }));
}

/** It becomes no call, so nobody else would put it on record. */
export function noteRefused(
  { refused }: Pick<FrontContext, "refused">,
  { principal, address }: Pick<Exchange, "principal" | "address">,
  reason: string,
  name: string,
): void {
  refused?.({ reason, principal, address, name });
}

function unknownTarget(front: FrontContext, exchange: Exchange, name: string): void {
  const { message, outlet } = exchange;
  noteRefused(front, exchange, "name", name);
  const isResource = message.method.startsWith("resources/");
  const what = isResource ? "resource" : message.method === "tools/call" ? "tool" : "prompt";
  const error = { code: unknownName(message.method), message: `Unknown ${what}: ${name}` };
  outlet.answer(errorText(message.id, isResource ? { ...error, data: { uri: name } } : error));
}
