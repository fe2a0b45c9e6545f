/** Which request of 2026-07-28 is handled where. */
import { GatewayError, JsonFault, type Principal } from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { errorText, type Message } from "../../../wire/jsonrpc/index.ts";
import { revision20260728 } from "../../../wire/mcp/2026-07-28/index.ts";
import { CALL_ROUTES, LATEST_REVISION, LIST_ROUTES } from "../../../wire/mcp/index.ts";
import { isOffered, noteRefused } from "../calls.ts";
import { ambiguousAnswer, errorAnswer } from "../mcp-errors.ts";
import { answerConfirm, CONFIRM_METHOD } from "../mcpax/confirm.ts";
import { ACCESS_METHODS, answerAccess, isAccessRequest } from "../mgp/access-methods.ts";
import type { Posted } from "../posted.ts";
import { answerError, callCompletion, callPrimitive, callUnknown } from "./calls.ts";
import { discover } from "./discover.ts";
import { checkEnvelope } from "./envelope-check.ts";
import type { ModernExchange, ModernOutlet } from "./exchange.ts";
import { listen } from "./listen.ts";
import { answerModernList } from "./lists.ts";
import type { ModernContext } from "./modern-context.ts";
import { unknownMethod } from "./modern-errors.ts";
import { profileOf } from "./profiles.ts";
import { ownResult } from "./results.ts";
import { handleTask, isTaskMethod } from "./tasks.ts";

type Handler = (context: ModernContext, exchange: ModernExchange, session: Session) => void;

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["completion/complete", callCompletion],
  ["subscriptions/listen", listen],
  ...Object.entries(LIST_ROUTES).map(([method, route]): [string, Handler] => [
    method,
    ({ front }, exchange, session) => answerModernList(front, session, exchange, route),
  ]),
  ...Object.entries(CALL_ROUTES)
    .filter(([method]) => revision20260728.methods.has(method))
    .map(([method, route]): [string, Handler] => [
      method,
      (context, exchange, session) => callPrimitive(context, exchange, session, route),
    ]),
]);

/** One request as it came. `headers` is absent on transports that have none. */
export type Arrival = {
  readonly message: Message;
  readonly catalog: string;
  readonly principal: Principal;
  /** See SessionRef. */
  readonly isPeer?: boolean;
  readonly headers: ModernExchange["headers"];
  readonly outlet: ModernOutlet;
  readonly posted?: Posted;
};

/** Answers a request, at once or when its call has ended. */
export function handleModern(context: ModernContext, arrival: Arrival): void {
  const { message, catalog, principal, headers, outlet, posted } = arrival;
  const { front } = context;
  try {
    const verdict = checkEnvelope(message, headers);
    if ("error" in verdict) {
      front.meter.count("isthmus_refused_total", "envelope");
      noteRefused(front, arrival, "envelope", message.method);
      const { status = 200, ...error } = verdict.error;
      return outlet.answer(errorText(message.id, error), status);
    }
    const { capabilities, logLevel, meta } = verdict.declared;
    const { text, hasTasks } = profileOf(capabilities);
    const profile = front.sessions.intern(text);
    const exchange = { message, catalog, principal, profile, hasTasks, meta, logLevel, headers, outlet, posted };
    dispatch(context, exchange, arrival.isPeer === true);
  } catch (error) {
    fail(context, arrival, error);
  }
}

function dispatch(context: ModernContext, exchange: ModernExchange, isPeer: boolean): void {
  const { message, outlet, catalog, principal, profile } = exchange;
  const { method } = message;
  if (method === "server/discover") {
    discover(context.front, exchange, isPeer).catch((error) => fail(context, exchange, error));
    return;
  }
  const { confirmations } = context.front;
  if (method === CONFIRM_METHOD && confirmations) {
    const onUnusable = () => noteRefused(context.front, exchange, "confirm", CONFIRM_METHOD);
    answerConfirm({ confirmations, onUnusable }, exchange, (result) => ownResult(context.front, result, "plain"))
      .then((text) => outlet.answer(text))
      .catch((error) => fail(context, exchange, error));
    return;
  }
  if (isTaskMethod(method)) {
    return void handleTask(context.front, exchange)?.catch((error) => fail(context, exchange, error));
  }
  if (ACCESS_METHODS.includes(method)) return access(context, exchange);
  // A method that an earlier revision had is gone; one that none has may be a server's own.
  if (!HANDLERS.has(method) && LATEST_REVISION.methods.has(method)) return answerError(exchange, unknownMethod(method));
  const session = context.profiles.session(catalog, { principal, isPeer }, profile);
  if (session.isEntered) return serve(context, exchange, session);
  const entered = context.profiles.enter(session);
  const isNow = isOffered(context.front, { session, principal, message });
  entered
    .then(() => isNow || serve(context, exchange, session))
    .catch((error) => isNow || fail(context, exchange, error));
  if (isNow) serve(context, exchange, session);
}

function serve(context: ModernContext, exchange: ModernExchange, session: Session): void {
  const { message, outlet } = exchange;
  const handler = HANDLERS.get(message.method);
  if (outlet.isGone) outlet.drop();
  else if (handler) handler(context, exchange, session);
  else if (!callUnknown(context, exchange, session)) refuseMethod(context, exchange);
}

function access(context: ModernContext, exchange: ModernExchange): void {
  const { front } = context;
  const { mgp } = front;
  const { principal, message, outlet, profile } = exchange;
  const request = { principal, message, capabilities: profile };
  if (!mgp || !isAccessRequest(mgp, request)) return refuseMethod(context, exchange);
  const onForbidden = () => noteRefused(front, exchange, "role", message.method);
  answerAccess(mgp, request, { onForbidden, dress: (result) => ownResult(front, result, "plain") })
    .then((text) => outlet.answer(text))
    .catch((error) => fail(context, exchange, error));
}

function refuseMethod({ front }: ModernContext, exchange: ModernExchange): void {
  const { method } = exchange.message;
  noteRefused(front, exchange, "method", method);
  answerError(exchange, unknownMethod(method));
}

type Failing = Pick<Arrival, "message" | "outlet" | "principal">;

function fail({ front }: ModernContext, arrival: Failing, cause: unknown): void {
  const { message, outlet } = arrival;
  if (cause instanceof JsonFault) {
    front.meter.count("isthmus_refused_total", "message");
    noteRefused(front, arrival, "message", message.method);
    return outlet.answer(ambiguousAnswer(message.id, cause), 400);
  }
  if (GatewayError.is(cause)) {
    return outlet.answer(errorAnswer(message.id, "", cause, ""), cause.code === "BAD_CALL" ? 200 : 503);
  }
  front.log.error("request failed inside the gateway", { method: message.method, cause });
  outlet.answer(errorText(message.id, { code: -32603, message: "The gateway failed." }));
}
