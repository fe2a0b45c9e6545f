/** Opens sessions. The answer is the gateway's own: nothing of it is relayed. */
import {
  decodeString,
  GatewayError,
  JsonFault,
  jsonText,
  type Payload,
  type Principal,
  payload,
  type View,
} from "../../contract/index.ts";
import type { Session } from "../../mechanisms/sessions/index.ts";
import { answerText, errorText, type Message } from "../../wire/jsonrpc/index.ts";
import { TASKS_EXTENSION } from "../../wire/mcp/2026-07-28/index.ts";
import { LATEST_REVISION, revisionOf } from "../../wire/mcp/index.ts";
import { answerMgp } from "../../wire/mgp/index.ts";
import { canBeAsked } from "./asks.ts";
import { canMakeTasks, capabilitiesText, instructionsOf } from "./capabilities.ts";
import type { FrontContext } from "./front-context.ts";
import { ambiguousAnswer, errorAnswer } from "./mcp-errors.ts";
import type { Outlet } from "./outlet.ts";
import { withAllLists } from "./peers.ts";

// Views never change, so what is said about one is said once.
const ABOUT = new WeakMap<View, About>();

type About = { readonly capabilities: Payload; readonly rest: string };

/** Every session keeps what its client said of itself as long as it lives. */
const MAX_DECLARED_BYTES = 64 * 1024;

/** Who opens a session, and where. `isPeer`: see SessionRef. */
export type Opener = { readonly principal: Principal; readonly catalog: string; readonly isPeer?: boolean };

/** Answers `initialize` when what the new session sees is ready, or the kernel has waited long enough for it. */
export async function initialize(
  front: FrontContext,
  { principal, catalog, isPeer = false }: Opener,
  message: Message,
  outlet: Outlet,
): Promise<void> {
  const asked = decodeString(message.members?.textOf("protocolVersion"));
  const capabilities = message.members?.textOf("capabilities") ?? "{}";
  if (asked === undefined || !capabilities.startsWith("{")) {
    const text = "initialize needs protocolVersion, a string, and capabilities, an object";
    return outlet.answer(errorText(message.id, { code: -32602, message: text }));
  }
  const declared = capabilities.length + (message.members?.textOf("clientInfo")?.length ?? 0);
  if (declared > MAX_DECLARED_BYTES) {
    const text = `capabilities and clientInfo may have ${MAX_DECLARED_BYTES} bytes together`;
    return outlet.answer(errorText(message.id, { code: -32602, message: text }));
  }
  const { version } = revisionOf(asked) ?? LATEST_REVISION;
  let session: Session;
  try {
    session = openSession(front, version, message, { principal, catalog, isPeer, isUnnamed: !outlet.namesSession });
  } catch (error) {
    if (error instanceof JsonFault) {
      front.meter.count("isthmus_refused_total", "message");
      return outlet.answer(ambiguousAnswer(message.id, error), -1, 400);
    }
    front.meter.count("isthmus_refused_total", "sessions full");
    return outlet.answer(errorAnswer(message.id, message.method, GatewayError.from(error), ""), -1, 503);
  }
  // Before anything is started for it: whoever is told of this session can come back to it, wherever that may be.
  if (front.sessions.isShared && !(await keepSession(front, session, message, outlet))) return;
  await front.catalog.enter(catalog, session);
  session.isEntered = true;
  front.auditListeners.add(session);
  outlet.opened(session);
  const about = aboutText(front, session, front.catalog.view(catalog, principal, session));
  outlet.answer(answerText(message.id, "result", payload(`{"protocolVersion":${jsonText(version)},${about}}`)));
}

/** False: the store is away, and the client was told so. */
async function keepSession(front: FrontContext, session: Session, message: Message, outlet: Outlet): Promise<boolean> {
  try {
    await front.sessions.keep(session);
    return true;
  } catch (error) {
    front.sessions.end(session);
    front.meter.count("isthmus_refused_total", "state");
    outlet.answer(errorAnswer(message.id, message.method, GatewayError.from(error), ""), -1, 503);
    return false;
  }
}

function openSession(
  front: FrontContext,
  protocol: string,
  message: Message,
  opener: Opener & { readonly isUnnamed: boolean },
): Session {
  const capabilities = front.sessions.intern(message.members?.textOf("capabilities") ?? "{}");
  return front.sessions.create({
    voice: front.voice,
    ...opener,
    protocol,
    capabilities,
    clientInfo: front.sessions.intern(message.members?.textOf("clientInfo") ?? "{}"),
    canBeAsked: canBeAsked(capabilities),
  });
}

function aboutText(front: FrontContext, { capabilities, isPeer }: Session, view: View): string {
  const about = ABOUT.get(view) ?? aboutOf(front, view);
  ABOUT.set(view, about);
  if (isPeer) return `"capabilities":${peerCapabilities(about.capabilities)},${about.rest}`;
  const told = front.mgp ? answerMgp(about.capabilities, capabilities, front.mgp.offered()) : about.capabilities;
  return `"capabilities":${told.text},${about.rest}`;
}

function aboutOf(front: FrontContext, view: View): About {
  const instructions = instructionsOf(view);
  const rest =
    `"serverInfo":${jsonText(front.config.serverInfo)}` +
    (instructions === undefined ? "" : `,"instructions":${jsonText(instructions)}`);
  return { capabilities: payload(servedCapabilities(view)), rest };
}

/** What the servers declare, with tasks in the words of this era. */
function servedCapabilities(view: View): string {
  const declared = payload(capabilitiesText(view));
  if (!canMakeTasks(view)) return declared.text;
  let served = declared.splice(["extensions", TASKS_EXTENSION]);
  if (served.at(["extensions"]) === "{}") served = served.splice(["extensions"]);
  for (const path of TASK_PATHS) if (served.at(path) === undefined) served = served.splice(path, "{}");
  return served.text;
}

/** What another process may ask of any server that is at home here. */
function peerCapabilities(capabilities: Payload): string {
  let all = withAllLists(capabilities);
  for (const path of [["logging"], ...TASK_PATHS]) if (all.at(path) === undefined) all = all.splice(path, "{}");
  return all.text;
}

const TASK_PATHS = [
  ["tasks", "list"],
  ["tasks", "cancel"],
  ["tasks", "requests", "tools", "call"],
] as const;
