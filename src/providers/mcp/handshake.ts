/** The opening of a session in the 2025 era: `initialize`, and what may be read from its answer. */
import {
  decodeString,
  GATEWAY_NAME,
  JsonFault,
  jsonText,
  type Payload,
  payload,
  type SessionRef,
  unambiguousAt,
} from "../../contract/index.ts";
import type { Message } from "../../wire/jsonrpc/index.ts";
import { LATEST_REVISION, VERSIONS } from "../../wire/mcp/index.ts";
import { withoutDialects } from "../../wire/mgp/index.ts";
import type { Declarations, Declared } from "./declarations.ts";
import { EMPTY_OBJECT } from "./empty-object.ts";
import { quotedCode, quotedVersion } from "./quoted-words.ts";
import { UpstreamFault } from "./transport.ts";

export type Agreement = Declared & {
  readonly version: string;
  /** It is a gateway as we are: it is told which of our callers a call is of. */
  readonly isGateway: boolean;
};

/** A client's own session is opened in its name and with its capabilities; a shared one declares nothing. */
export function initializeParams(client: SessionRef | undefined, gatewayVersion: string): Payload {
  const capabilities = client ? passedOn(client.capabilities).text : "{}";
  const clientInfo = client?.clientInfo.text ?? jsonText({ name: GATEWAY_NAME, version: gatewayVersion });
  const version = jsonText(LATEST_REVISION.version);
  return payload(`{"protocolVersion":${version},"capabilities":${capabilities},"clientInfo":${clientInfo}}`);
}

/** What a client declares to servers: all but what it has agreed on with us alone. Nothing where two readers could differ. */
export function passedOn(capabilities: Payload): Payload {
  try {
    return withoutDialects(capabilities);
  } catch (error) {
    if (error instanceof JsonFault) return EMPTY_OBJECT;
    throw error;
  }
}

/** Throws UpstreamFault when the answer opens no session that we could use. */
export function readAgreement(answer: Message, declarations: Declarations): Agreement {
  if (answer.outcome === "fault")
    throw invalid(`The server refused to open a session (code ${quotedCode(answer.members)}).`);
  const version = decodeString(answer.members?.textOf("protocolVersion"));
  if (version === undefined || !VERSIONS.includes(version))
    throw invalid(
      `The server speaks ${version === undefined ? "no known revision of MCP" : `${quotedVersion(version)}, which the gateway does not`}.`,
    );
  const declared = declarations.read(answer.members);
  return { version, ...declared, isGateway: isGateway(answer.members?.textOf("serverInfo")) };
}

/** By what a server says of itself, as JSON text. */
export function isGateway(serverInfo: string | undefined): boolean {
  const name = serverInfo === undefined ? undefined : unambiguousAt(payload(serverInfo), ["name"]);
  return decodeString(name) === GATEWAY_NAME;
}

function invalid(message: string): UpstreamFault {
  return new UpstreamFault({ kind: "invalid", message });
}
