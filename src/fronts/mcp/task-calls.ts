/** tools/call with `task`, where the gateway keeps the task: it is there at once, whatever the server makes of the call. */
import { GatewayError, madeCallOf, payload } from "../../contract/index.ts";
import { answerText } from "../../wire/jsonrpc/index.ts";
import { revisionOf } from "../../wire/mcp/index.ts";
import { askFor, refusalOf } from "./asks.ts";
import { badParams, type Exchange, orderOf, type Start, startCall, tokenOf } from "./calls.ts";
import type { FrontContext } from "./front-context.ts";
import { holdSession } from "./kept-session.ts";
import { errorAnswer } from "./mcp-errors.ts";
import { olderTask } from "./older-task.ts";
import { TaskNotices } from "./task-notices.ts";
import { mayHear } from "./told-tasks.ts";

/** A call of a tool, as a task where the client wants one and the gateway keeps it. */
export function startTool(front: FrontContext, exchange: Exchange, start: Start): void {
  const { outlasts } = start.entry.primitive;
  if (outlasts === undefined || outlasts === "own" || !wantsTask(exchange)) startCall(front, exchange, start);
  else startTask(front, exchange, start);
}

function wantsTask({ session, message }: Exchange): boolean {
  return message.members?.has("task") === true && revisionOf(session.protocol)?.methods.has("tasks/get") === true;
}

function startTask(front: FrontContext, exchange: Exchange, start: Start): void {
  const { session, message, outlet } = exchange;
  const ttlMs = wishedTtl(message.members?.textOf("task") ?? "");
  if (ttlMs === undefined) return badParams(exchange, "params.task must be an object; its ttl, if any, a number of ms");
  if (!front.tasks.isUp) return outlet.answer(errorAnswer(message.id, "", NO_STORE, ""));
  const made = madeCallOf({ target: start.entry.target, input: start.input });
  if (made.args === undefined && !mayHear(front, { catalog: session.catalog, principal: exchange.principal }, made))
    return badParams(exchange, TOO_LONG);
  const order = orderOf(exchange, { ...start, input: start.input.splice(["task"]) });
  const notices = new TaskNotices(front, session, tokenOf(message));
  const task = front.tasks.start(
    session.principal,
    (reader) => front.runs.start({ ...order, life: "detached", mayDefer: true }, reader),
    {
      ...(ttlMs > 0 && { ttlMs }),
      mayAsk: (ask) => !session.isEphemeral && askFor(session, ask) !== undefined,
      refusal: refusalOf,
      overhear: (event) => notices.overhear(event),
    },
  );
  if (!task) return outlet.answer(errorAnswer(message.id, "", TOO_MANY, ""));
  const tell = () => {
    holdSession(session, task);
    notices.begin(task);
    const created = payload(`{"task":${olderTask(task, "working").text}}`);
    outlet.answer(answerText(message.id, "result", created));
  };
  if (task.stored === undefined) return tell();
  task.stored.then(tell, (cause) => outlet.answer(errorAnswer(message.id, "", GatewayError.from(cause), "")));
}

const NO_STORE = new GatewayError("STATE_UNAVAILABLE");

/** What came of it could be told to nobody. */
const TOO_LONG =
  "A rule reads the arguments of this tool, and these are too long to be kept with a task: call it without";

const TOO_MANY = new GatewayError("OVERLOADED", {
  message: "The gateway keeps as many tasks of this caller as it may.",
});

/** 0: the client has no wish. Undefined: it says so in no way that we know. */
function wishedTtl(task: string): number | undefined {
  if (!task.startsWith("{")) return undefined;
  const ttl = payload(task).at(["ttl"]);
  if (ttl === undefined) return 0;
  // Without a limit means: as long as anything is kept.
  if (ttl === "null") return Number.MAX_SAFE_INTEGER;
  return /^\d/.test(ttl) ? Math.max(Number(ttl), 1) : undefined;
}
