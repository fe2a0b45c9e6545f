/** Requests of 2026-07-28 that become calls, or go on with one. */
import {
  decodeString,
  type Entry,
  GatewayError,
  jsonText,
  type Origin,
  type Payload,
  payload,
  type Verb,
} from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { type CallRoute, COMPLETE_REFS, isMethodOfProtocol, LOG_LEVELS } from "../../../wire/mcp/index.ts";
import { isDialectWord } from "../../../wire/mgp/index.ts";
import { noteRefused, ownName, resolve, tokenIn } from "../calls.ts";
import type { FrontContext } from "../front-context.ts";
import { onceOf, withoutOnce } from "../once.ts";
import { requesterIn, withoutRequester } from "../requester.ts";
import { Deferral } from "./deferral.ts";
import type { ModernExchange } from "./exchange.ts";
import type { ModernContext } from "./modern-context.ts";
import { INVALID_PARAMS, type ModernError } from "./modern-errors.ts";
import { OpenCall } from "./open-call.ts";
import { checkParams } from "./param-check.ts";
import { errorFinal, finalAnswer } from "./results.ts";
import type { About, Here } from "./round.ts";

/** tools/call, prompts/get and resources/read: those that may be answered with questions. */
export function callPrimitive(
  context: ModernContext,
  exchange: ModernExchange,
  session: Session,
  route: CallRoute,
): void {
  const { message, headers } = exchange;
  const key = route.path[0] as string;
  const name = decodeString(message.members?.textOf(key));
  if (name === undefined) return answerError(exchange, badParams(`params.${key} must be a string`));
  const identity = `["${message.method}",${message.members?.textOf(key)},${message.members?.textOf("arguments") ?? "null"}]`;
  const { principal } = exchange;
  const view = context.front.catalog.view(session.catalog, principal, session);
  const entry = resolve(view, route.kinds, name, principal);
  const wrong = entry && headers && route.verb === "call" ? checkParams(entry, message.body, headers) : undefined;
  if (wrong) return answerError(exchange, wrong);
  const asked: Asked = { entry, route, name, identity };
  const literal = message.members?.textOf("requestState");
  if (literal === undefined) return begin(context, exchange, session, asked);
  const sealed = decodeString(literal);
  goOn(context, exchange, session, {
    identity,
    name,
    sealed,
    begin: (withState) => begin(context, exchange, session, asked, withState),
  });
}

/** What a request names, and what makes another one the same. */
type Asked = {
  readonly entry: Entry | undefined;
  readonly route: CallRoute;
  readonly name: string;
  readonly identity: string;
};

function begin(
  context: ModernContext,
  exchange: ModernExchange,
  session: Session,
  { entry, route, name, identity }: Asked,
  withState?: (input: Payload) => Payload,
): void {
  const { method } = exchange.message;
  if (!entry) return refuseName(context, exchange, name);
  const own = ownName(entry, name);
  const input = inputOf(exchange, own === name ? undefined : [route.path[0] as string, jsonText(own)]);
  const isListed = entry.primitive.definition.text !== "{}";
  const about: About = { method, name, isListed, canAsk: true, identity };
  const start = { entry, verb: route.verb, input: withState?.(input) ?? input, about };
  if (exchange.hasTasks && route.verb === "call") startDeferrable(context, exchange, session, start);
  else startCall(context, exchange, session, start);
}

/** The params without what they say of the client, and with one member changed. Tasks of 2025 do not exist here. */
function inputOf({ message, meta }: ModernExchange, change?: readonly [key: string, json: string]): Payload {
  const { members, body } = message;
  if (!members) return body;
  const own = meta === undefined ? undefined : withoutOurs(meta);
  const changes: (readonly [key: string, json?: string | undefined])[] = [["_meta", own], ["task"]];
  if (change) changes.push(change);
  return payload(members.edited(changes), body.frame);
}

/** What is for us alone goes no further. */
function withoutOurs(meta: string): string | undefined {
  const left = withoutOnce(meta);
  return left === undefined ? undefined : withoutRequester(left);
}

type Return = {
  readonly identity: string;
  readonly name: string;
  readonly sealed: string | undefined;
  /** Begins a new call, its input changed as given. */
  readonly begin: (withState: (input: Payload) => Payload) => void;
};

/** Goes on with what this state belongs to: a call that waits, or a new one that the server told the client to make. */
function goOn(context: ModernContext, exchange: ModernExchange, session: Session, back: Return): void {
  const { identity, name, sealed, begin } = back;
  if (sealed === undefined) return answerError(exchange, badParams("params.requestState must be a string"));
  const retry = context.rounds.retry(exchange, identity, sealed);
  if ("error" in retry) {
    noteRefused(context.front, exchange, "state", name);
    return answerError(exchange, retry.error);
  }
  if ("refusal" in retry) return refuseReturn(context.front, exchange, name, retry);
  if ("call" in retry) return retry.call.comeBack(hereOf(exchange), retry.answers);
  if ("upstream" in retry) return begin((input) => input.splice(["requestState"], jsonText(retry.upstream)));
  if (retry.isDeclined) return refuseVisit(context.front, exchange, name);
  context.rounds.visits.hold(session, retry.visits, exchange.outlet, () => {
    begin((input) => input.splice(["requestState"]).splice(["inputResponses"]));
  });
}

function refuseVisit(front: FrontContext, exchange: ModernExchange, name: string): void {
  const refusal = new GatewayError("NOT_ALLOWED", { message: "The page that the server asked for was not visited." });
  refuseReturn(front, exchange, name, { refusal, callId: "" });
}

/** As the call would be refused now. What waits goes on waiting, for whoever may make the call. */
function refuseReturn(
  front: FrontContext,
  { message, outlet }: ModernExchange,
  name: string,
  { refusal: error, callId }: { readonly refusal: GatewayError; readonly callId: string },
): void {
  const answered = { requestId: message.id, method: message.method, name, isListed: true, callId };
  const { text, status } = finalAnswer(front, answered, { type: "error", error });
  outlet.answer(text, status, error);
}

/** Completion names a prompt or a template, by its type. */
export function callCompletion(context: ModernContext, exchange: ModernExchange, session: Session): void {
  const { message } = exchange;
  const type = decodeString(message.body.at(["ref", "type"])) ?? "";
  const route = Object.hasOwn(COMPLETE_REFS, type) ? COMPLETE_REFS[type] : undefined;
  const name = route && decodeString(message.body.at(route.path));
  if (!route || name === undefined) {
    return answerError(exchange, badParams("params.ref must name a prompt or a resource template"));
  }
  const view = context.front.catalog.view(session.catalog, exchange.principal, session);
  const entry = resolve(
    view,
    route.kind === "template" ? ["template", "resource"] : [route.kind],
    name,
    exchange.principal,
  );
  if (!entry) return refuseName(context, exchange, name);
  const own = ownName(entry, name);
  const input = inputOf(exchange);
  const named = own === name ? input : input.splice(route.path, jsonText(own));
  const about = plainAbout(message.method, name);
  startCall(context, exchange, session, { entry, verb: "complete", input: named, about });
}

/** A method we do not know goes to the server behind us, if there is just one and all of it is shown. False: there is not. */
export function callUnknown(context: ModernContext, exchange: ModernExchange, session: Session): boolean {
  const { message } = exchange;
  if (isDialectWord(message.method) || isMethodOfProtocol(message.method)) return false;
  const view = context.front.catalog.view(session.catalog, exchange.principal, session);
  const [only] = view.providers;
  const entry = view.providers.length === 1 && !view.isPartial && only ? view.raw(only.id, message.method) : undefined;
  if (!entry) return false;
  const about = plainAbout(message.method, "");
  startCall(context, exchange, session, { entry, verb: "raw", input: inputOf(exchange), about });
  return true;
}

function plainAbout(method: string, name: string): About {
  return { method, name, isListed: true, canAsk: false, identity: "null" };
}

type Start = { readonly entry: Entry; readonly verb: Verb; readonly input: Payload; readonly about: About };

let lastKey = 0;

/** A call that may be answered with a task. */
function startDeferrable(context: ModernContext, exchange: ModernExchange, session: Session, start: Start): void {
  const isSlow = start.entry.primitive.outlasts === "slow";
  const about: About = { ...start.about, deferral: new Deferral(context.front, session, isSlow) };
  startCall(context, exchange, session, { ...start, about });
}

function startCall(context: ModernContext, exchange: ModernExchange, session: Session, start: Start): void {
  const { front, rounds } = context;
  const { entry, verb, input, about } = start;
  // There are no sessions in this era: a name is the caller's.
  const once = onceOf(exchange.meta, exchange.posted, undefined);
  const here = hereOf(exchange);
  wantLevel(front, session, exchange.logLevel);
  // Many clients share the session of a profile, and their ids may be equal.
  const key = `call ${++lastKey}`;
  const call = new OpenCall(front, rounds, session, about, key);
  session.addRunning(key, call);
  const { method } = exchange.message;
  const held = exchange.posted?.held;
  const origin = originOf(exchange, session);
  const order = { entry, verb, method, input, principal: exchange.principal, session, origin, life: "bound" } as const;
  const whole = held ? { ...order, held } : order;
  const named = once ? { ...whole, once: once.name } : whole;
  call.began(front.runs.start(about.deferral ? { ...named, mayDefer: true } : named, call), here);
}

function originOf({ message, meta, headers, posted }: ModernExchange, session: Session): Origin {
  const origin: Origin = { front: "mcp", protocol: session.protocol, requestId: message.id };
  const traceparent = headers?.traceparent;
  const address = posted?.address;
  const requester = requesterIn(meta);
  if (traceparent === undefined && address === undefined && requester === undefined) return origin;
  return {
    ...origin,
    ...(requester !== undefined && { requester }),
    ...(traceparent !== undefined && { traceparent }),
    ...(address !== undefined && { address }),
  };
}

function hereOf({ message, meta, outlet, logLevel }: ModernExchange): Here {
  return { outlet, requestId: message.id, token: meta === undefined ? undefined : tokenIn(meta), logLevel };
}

/** Servers of 2025 have one level for a session: the least severe that anybody wanted. Each call filters for itself. */
function wantLevel(front: FrontContext, session: Session, level: string | undefined): void {
  if (level === undefined) return;
  const present = session.logLevel === undefined ? LOG_LEVELS.length : LOG_LEVELS.indexOf(session.logLevel);
  if (LOG_LEVELS.indexOf(level) >= present) return;
  session.logLevel = level;
  front.catalog.notify(session.catalog, session, "logging/setLevel", payload(jsonText({ level })));
}

export function answerError({ message, outlet }: ModernExchange, error: ModernError): void {
  const { text, status } = errorFinal(message.id, error);
  outlet.answer(text, status);
}

function refuseName({ front }: ModernContext, exchange: ModernExchange, name: string): void {
  noteRefused(front, exchange, "name", name);
  answerError(exchange, unknownName(exchange.message.method, name));
}

export function badParams(message: string): ModernError {
  return { code: INVALID_PARAMS, message };
}

function unknownName(method: string, name: string): ModernError {
  const isResource = method.startsWith("resources/");
  const what = isResource ? "resource" : method === "tools/call" ? "tool" : "prompt";
  const error = { code: INVALID_PARAMS, message: `Unknown ${what}: ${name}` };
  return isResource ? { ...error, data: { uri: name } } : error;
}
