/** What of a call's params must differ for this server. */
import { GatewayError, jsonText, type Payload, REQUESTER_KEY } from "../../contract/index.ts";
import { isModern } from "./modern/modern-side.ts";
import type { RunningCall } from "./running-call.ts";
import type { TaskEntry } from "./task-table.ts";
import { DEFAULT_KEEP_MS, MAX_KEEP_MS } from "./tasks/task-state.ts";
import type { UpstreamSession } from "./upstream-session.ts";

const ROUND_MEMBERS = ["inputResponses", "requestState"];
const TOKEN_PATH = ["_meta", "progressToken"] as const;

/** The params as they are sent under `id`; notes in `running` what its answer will need. Throws JsonFault and GatewayError. */
export function inputFor(running: RunningCall, session: UpstreamSession, id: string, params: Payload): Payload {
  const input = ownInput(running, session, id, params);
  const { context, agreement } = session;
  if (!agreement?.isGateway || !context.requester) return input;
  const requester = jsonText(context.requester(running.call));
  return input.text === ""
    ? input.splice([], `{"_meta":{"${REQUESTER_KEY}":${requester}}}`)
    : input.splice(["_meta", REQUESTER_KEY], requester);
}

function ownInput(running: RunningCall, session: UpstreamSession, id: string, params: Payload): Payload {
  const { call } = running;
  const { tasks, taskTools } = session.context;
  let input = params;
  // Keys of params are never escaped, so a text without these has no such member.
  if (input.text.includes('"_meta"')) {
    running.token = input.at(TOKEN_PATH);
    if (running.token !== undefined) input = input.splice(TOKEN_PATH, id);
    input = tasks.towardsServer(input, call.principal);
  }
  const isAboutTask = call.method.startsWith("tasks/");
  // What a server of 2026 runs as a task the gateway keeps itself: no caller has a name for it there.
  if (session.modern && isAboutTask) throw unknownTask();
  if (session.modern) return call.mayDefer ? input.splice(["task"]) : input;
  if (isModern(call)) {
    input = withoutRounds(input);
    if (taskTools.requires(call)) input = withTask(input, running, session);
  }
  running.wantsTask = input.text.includes('"task"') && input.at(["task"]) !== undefined;
  if (!isAboutTask) return input;
  const entry = tasks.find(call.resumes ?? "") ?? adopted(running, session);
  if (!entry) throw unknownTask();
  return input.splice(["taskId"], jsonText(entry.upstreamId));
}

function unknownTask(): GatewayError {
  return new GatewayError("NO_SUCH_TARGET", { message: "The server does not know this task any more." });
}

/** A task that another process, or the last one, was told of: it is ours from now on. */
function adopted({ call }: RunningCall, session: UpstreamSession): TaskEntry | undefined {
  if (call.task?.handle === undefined) return undefined;
  const { id, principal, handle, expiresAt } = call.task;
  const entry = { id, upstreamId: handle, principal: principal.id, expiresAt, token: undefined };
  session.context.tasks.add(entry);
  return entry;
}

/** A server of 2025 asks in the middle of a call: answers that belong to no question of its own mean nothing to it. */
function withoutRounds(input: Payload): Payload {
  let left = input;
  for (const key of ROUND_MEMBERS) if (left.text.includes(key)) left = left.splice([key]);
  return left;
}

/** The tool runs only as a task: the server makes one that lives as long as the call may. */
function withTask(input: Payload, { call }: RunningCall, session: UpstreamSession): Payload {
  const leftMs = Math.ceil(call.deadline - session.context.clock.now());
  const ttl = call.mayDefer ? DEFAULT_KEEP_MS : Math.min(Math.max(leftMs, 1), MAX_KEEP_MS);
  return input.splice(["task"], `{"ttl":${ttl}}`);
}
