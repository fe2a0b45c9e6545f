/**
 * What a session with a server of 2026-07-28 has beside what every session has. There is no session on the wire: each
 * request says who sends it, in which version, and what that client can do.
 */
import { type Call, decodeString, jsonText, type Payload, payload, type SessionRef } from "../../../contract/index.ts";
import { notificationText } from "../../../wire/jsonrpc/index.ts";
import { addEnvelope, ENVELOPE_KEYS, revision20260728 } from "../../../wire/mcp/2026-07-28/index.ts";
import type { UpstreamSession } from "../upstream-session.ts";
import { Listening } from "./listening.ts";
import { requestHead } from "./request-head.ts";
import { ToolFacts } from "./tool-facts.ts";

const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

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

  constructor(session: UpstreamSession) {
    const { client, gatewayVersion } = session.context;
    const version = jsonText(revision20260728.version);
    this.#session = session;
    this.tools = new ToolFacts(session.context.log);
    this.listening = new Listening(session, this);
    this.#clientInfo = clientInfoOf(client) ?? jsonText({ name: "isthmus", version: gatewayVersion });
    this.#capabilities = client ? declaredCapabilities(client.capabilities).text : "{}";
    this.#members =
      `"${ENVELOPE_KEYS.version}":${version},"${ENVELOPE_KEYS.clientInfo}":${this.#clientInfo},` +
      `"${ENVELOPE_KEYS.capabilities}":${this.#capabilities}`;
  }

  /** `call`: whose request it is; a request of our own has none. */
  dress(method: string, params: Payload, call?: Call): Dressed {
    const dressed = this.#addEnvelope(params, call && this.#session.context.levels.lowest);
    if (!this.#session.transport.hasStreams) return { params: dressed, head: "" };
    const headers = call?.method === "tools/call" ? this.tools.of(toolOf(params)).headers : [];
    return { params: dressed, head: requestHead(method, dressed, headers) };
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
    return params.text === "" ? params.splice([], `{"_meta":${meta}}`) : params.splice(["_meta"], meta);
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

export function toolOf(params: Payload): string {
  return decodeString(params.at(["name"])) ?? "";
}

function clientInfoOf(client: SessionRef | undefined): string | undefined {
  return client?.clientInfo.at(["name"]) === undefined ? undefined : client.clientInfo.text;
}

/** Capabilities as this era writes them. Tasks are left out: the gateway does not carry them to such servers. */
function declaredCapabilities(capabilities: Payload): Payload {
  let declared = capabilities.text.startsWith("{") ? payload(capabilities.text) : payload("{}");
  declared = declared.splice(["tasks"]).splice(["extensions", TASKS_EXTENSION]);
  if (declared.at(["roots"]) !== undefined) declared = declared.splice(["roots"], "{}");
  return declared.at(["elicitation"]) === "{}" ? declared.splice(["elicitation"], '{"form":{}}') : declared;
}
