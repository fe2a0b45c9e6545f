/** Which request is handled where. A method that the session's revision does not have is unknown to it. */
import { type Confirmations, decodeString, GatewayError, JsonFault, payload } from "../../contract/index.ts";
import type { Session } from "../../mechanisms/sessions/index.ts";
import { answerText, errorText } from "../../wire/jsonrpc/index.ts";
import {
  CALL_ROUTES,
  type CallRoute,
  isMethodOfProtocol,
  LIST_ROUTES,
  LOG_LEVELS,
  revisionOf,
} from "../../wire/mcp/index.ts";
import { isDialectWord } from "../../wire/mgp/index.ts";
import {
  badParams,
  callCompletion,
  callPrimitive,
  type Exchange,
  isOffered,
  noteRefused,
  startCall,
  viewOf,
  whenSaved,
} from "./calls.ts";
import type { FrontContext } from "./front-context.ts";
import { answerList } from "./lists.ts";
import { ambiguousAnswer, errorAnswer } from "./mcp-errors.ts";
import { answerConfirm, CONFIRM_METHOD } from "./mcpax/confirm.ts";
import { answerAccess, isAccessRequest } from "./mgp/access-methods.ts";
import { startTool } from "./task-calls.ts";
import { listTasks } from "./task-list.ts";
import { callTask } from "./tasks.ts";

const TOOL_ROUTE = CALL_ROUTES["tools/call"] as CallRoute;

type Handler = (front: FrontContext, exchange: Exchange) => void | Promise<void>;

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ["ping", (_front, { message, outlet }) => outlet.answer(answerText(message.id, "result", payload("{}")))],
  ["logging/setLevel", setLevel],
  ["completion/complete", callCompletion],
  ["tasks/get", callTask],
  ["tasks/result", callTask],
  ["tasks/cancel", callTask],
  ["tasks/list", listTasks],
  ...Object.entries(LIST_ROUTES).map(([method, route]): [string, Handler] => [
    method,
    (front, exchange) => answerList(front, exchange, route),
  ]),
  ...Object.entries(CALL_ROUTES).map(([method, route]): [string, Handler] => [
    method,
    (front, exchange) => callPrimitive(front, exchange, route),
  ]),
  ["tools/call", (front, exchange) => callPrimitive(front, exchange, TOOL_ROUTE, startTool)],
]);

/** Words of the gateway itself in other revisions: clients find out by them what we speak. */
const OTHER_WORDS: ReadonlySet<string> = new Set(["initialize", "server/discover", "subscriptions/listen"]);

/** Never relayed, or a server behind us would speak for us, or about what callers of another revision have there. */
function isOwnWord(method: string): boolean {
  return OTHER_WORDS.has(method) || isDialectWord(method) || isMethodOfProtocol(method);
}

/** Answers a request of an open session, at once or when its call has ended. */
export function handleRequest(front: FrontContext, exchange: Exchange): void {
  if (!exchange.session.isEntered && exchange.message.method !== "ping") {
    const entered = enter(front, exchange.session);
    const isNow = isOffered(front, exchange);
    entered.then(
      () => isNow || dispatch(front, exchange),
      (error) => isNow || fail(front, exchange, error),
    );
    if (!isNow) return;
  }
  dispatch(front, exchange);
}

function dispatch(front: FrontContext, exchange: Exchange): void {
  const { method } = exchange.message;
  try {
    if (method === CONFIRM_METHOD && front.confirmations) {
      return void confirm(front, front.confirmations, exchange).catch((error) => fail(front, exchange, error));
    }
    const isKnown = revisionOf(exchange.session.protocol)?.methods.has(method) === true;
    const handler = isKnown ? HANDLERS.get(method) : undefined;
    const done = handler ? handler(front, exchange) : (access(front, exchange) ?? callUnknown(front, exchange));
    if (done) done.catch((error) => fail(front, exchange, error));
  } catch (error) {
    fail(front, exchange, error);
  }
}

async function confirm(front: FrontContext, confirmations: Confirmations, exchange: Exchange): Promise<void> {
  const onUnusable = () => noteRefused(front, exchange, "confirm", CONFIRM_METHOD);
  exchange.outlet.answer(await answerConfirm({ confirmations, onUnusable }, exchange));
}

/** Undefined: it is no method of MGP's, or none that this client has agreed on with us. */
function access(front: FrontContext, exchange: Exchange): Promise<void> | undefined {
  const { mgp } = front;
  const { principal, message, outlet, session } = exchange;
  const request = { principal, message, capabilities: session.capabilities };
  if (!mgp || !isAccessRequest(mgp, request)) return undefined;
  const onForbidden = () => noteRefused(front, exchange, "role", message.method);
  return answerAccess(mgp, request, { onForbidden }).then((text) => outlet.answer(text));
}

function fail(front: FrontContext, exchange: Exchange, cause: unknown): void {
  const { message, outlet } = exchange;
  if (cause instanceof JsonFault) {
    front.meter.count("isthmus_refused_total", "message");
    noteRefused(front, exchange, "message", message.method);
    return outlet.answer(ambiguousAnswer(message.id, cause), -1, 400);
  }
  if (GatewayError.is(cause)) return outlet.answer(errorAnswer(message.id, message.method, cause, ""));
  front.log.error("request failed inside the gateway", { method: message.method, cause });
  outlet.answer(errorText(message.id, { code: -32603, message: "The gateway failed." }));
}

/** Waits until what the session sees is ready. Ephemeral ones all see what everybody sees. */
async function enter(front: FrontContext, session: Session): Promise<void> {
  await front.catalog.enter(session.catalog, session.isEphemeral ? undefined : session);
  session.isEntered = true;
  if (session.isEphemeral) front.readyCatalogs.add(session.catalog);
}

function setLevel(front: FrontContext, exchange: Exchange): void {
  const { session, message, outlet } = exchange;
  const level = decodeString(message.members?.textOf("level"));
  if (level === undefined || !LOG_LEVELS.includes(level)) {
    return badParams(exchange, `params.level must be one of ${LOG_LEVELS.join(", ")}`);
  }
  const former = session.logLevel;
  session.logLevel = level;
  const answer = () => {
    if (!session.isEphemeral) front.catalog.notify(session.catalog, session, message.method, message.body);
    outlet.answer(answerText(message.id, "result", payload("{}")));
  };
  whenSaved(front, exchange, answer, () => {
    session.logLevel = former;
  });
}

/** A method we do not know goes to the server behind us, if there is just one and all of it is shown. */
function callUnknown(front: FrontContext, exchange: Exchange): void {
  const { message, outlet } = exchange;
  const view = viewOf(front, exchange);
  const [only] = view.providers;
  const canRelay = view.providers.length === 1 && only && !view.isPartial && !isOwnWord(message.method);
  const entry = canRelay ? view.raw(only.id, message.method) : undefined;
  if (entry) return void startCall(front, exchange, { entry, verb: "raw", input: message.body });
  if (!OTHER_WORDS.has(message.method)) noteRefused(front, exchange, "method", message.method);
  outlet.answer(errorText(message.id, { code: -32601, message: `Method not found: ${message.method}` }));
}
