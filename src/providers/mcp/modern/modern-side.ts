/**
 * What a session with a server of 2026-07-28 has beside what every session has. There is no session on the wire: each
 * request says who sends it, in which version, and what that client can do.
 */
import {
  type Call,
  GATEWAY_NAME,
  JsonFault,
  jsonText,
  type Payload,
  payload,
  type SessionRef,
} from "../../../contract/index.ts";
import { notificationText } from "../../../wire/jsonrpc/index.ts";
import { addEnvelope, ENVELOPE_KEYS, revision20260728, TASKS_EXTENSION } from "../../../wire/mcp/2026-07-28/index.ts";
import { passedOn } from "../handshake.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { Listening } from "./listening.ts";
import { requestHead } from "./request-head.ts";
import { ToolFacts } from "./tool-facts.ts";

const TASKS_PATH = ["_meta", ENVELOPE_KEYS.capabilities, "extensions", TASKS_EXTENSION] as const;

const MAX_HEADS = 10_000;

/** A request as it goes out. */
export type Dressed = { readonly params: Payload; readonly head: string };

export class ModernSide {
  readonly tools: ToolFacts;
  readonly listening: Listening;
  readonly #session: UpstreamSession;
  readonly #clientInfo: string;
  readonly #capabilities: string;
  /** Members of `_meta`, for the many requests that have none of their own. */
  readonly #members: string;
  /** The headers of calls, by tool: they are the same for each call unless an argument is one of them. */
  readonly #heads = new Map<string, string>();
  #hasTasks: boolean | undefined;

  constructor(session: UpstreamSession) {
    const { client, gatewayVersion } = session.context;
    const version = jsonText(revision20260728.version);
    this.#session = session;
    this.tools = new ToolFacts(session);
    this.listening = new Listening(session, this);
    this.#clientInfo = clientInfoOf(client) ?? jsonText({ name: GATEWAY_NAME, version: gatewayVersion });
    this.#capabilities = client ? declaredCapabilities(passedOn(client.capabilities)).text : "{}";
    this.#members =
      `"${ENVELOPE_KEYS.version}":${version},"${ENVELOPE_KEYS.clientInfo}":${this.#clientInfo},` +
      `"${ENVELOPE_KEYS.capabilities}":${this.#capabilities}`;
  }

  /** The server may answer a call with a task where the client has declared that it takes them. */
  get hasTasks(): boolean {
    const { agreement } = this.#session;
    if (this.#hasTasks === undefined && agreement) this.#hasTasks = declaresTasks(agreement.capabilities);
    return this.#hasTasks === true;
  }

  /** `call`: whose request it is; a request of our own has none. */
  dress(method: string, params: Payload, call?: Call): Dressed {
    const plain = this.#addEnvelope(params, call && this.#session.context.levels.lowest);
    const dressed = this.#takesTask(method, call) ? plain.splice(TASKS_PATH, "{}") : plain;
    if (!this.#session.transport.hasStreams) return { params: dressed, head: "" };
    return { params: dressed, head: this.#head(method, dressed, call) };
  }

  #head(method: string, params: Payload, call: Call | undefined): string {
    if (call?.method !== "tools/call") return requestHead(method, params, []);
    const { headers } = this.tools.of(call.target.name);
    if (headers.length > 0) return requestHead(method, params, headers);
    const known = this.#heads.get(call.target.name);
    if (known !== undefined) return known;
    const head = requestHead(method, params, []);
    if (this.#heads.size >= MAX_HEADS) this.#heads.clear();
    this.#heads.set(call.target.name, head);
    return head;
  }

  /** The client takes a task for an answer, or we speak about one: both must be declared, and nowhere else. */
  #takesTask(method: string, call: Call | undefined): boolean {
    if (!call) return method.startsWith("tasks/");
    return call.mayDefer === true && method === "tools/call" && this.hasTasks;
  }

  #addEnvelope(params: Payload, logLevel: string | undefined): Payload {
    if (params.text.includes('"_meta"'))
      return addEnvelope(params, {
        version: revision20260728.version,
        capabilities: this.#capabilities,
        clientInfo: this.#clientInfo,
        logLevel,
      });
    const level = logLevel === undefined ? "" : `,"${ENVELOPE_KEYS.logLevel}":${logLevel}`;
    const meta = `{${this.#members}${level}}`;
    if (params.text === "") return params.splice([], `{"_meta":${meta}}`);
    return params.text.startsWith('{"')
      ? payload(`{"_meta":${meta},${params.text.slice(1)}`, params.frame)
      : params.splice(["_meta"], meta);
  }

  /** A notification of a client, or ours. */
  notify(method: string, params: Payload): Promise<void> {
    const { params: dressed, head } = this.dress(method, params);
    return this.#session.send(notificationText(method, dressed), head);
  }

  /** Headers of a call are made from the list of tools: until there is one, it has to wait. */
  mustListBefore(call: Call): boolean {
    return call.method === "tools/call" && !this.tools.isKnown && this.#session.transport.hasStreams;
  }
}

/** Whether whoever made the call speaks this era, too. */
export function isModern(call: Call): boolean {
  return call.origin.protocol === revision20260728.version;
}

function clientInfoOf(client: SessionRef | undefined): string | undefined {
  return client?.clientInfo.at(["name"]) === undefined ? undefined : client.clientInfo.text;
}

export function declaresTasks(capabilities: Payload | undefined): boolean {
  try {
    return capabilities?.at(["extensions", TASKS_EXTENSION])?.startsWith("{") === true;
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return false; // two readers could read it differently
  }
}

/** Capabilities as this era writes them. Tasks are left out: they are declared where a request may become one. */
function declaredCapabilities(capabilities: Payload): Payload {
  let declared = capabilities.text.startsWith("{") ? payload(capabilities.text) : payload("{}");
  declared = declared.splice(["tasks"]).splice(["extensions", TASKS_EXTENSION]);
  if (declared.at(["roots"]) !== undefined) declared = declared.splice(["roots"], "{}");
  return declared.at(["elicitation"]) === "{}" ? declared.splice(["elicitation"], '{"form":{}}') : declared;
}
