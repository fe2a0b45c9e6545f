/** The opening of a session in the 2025 era: `initialize`, and what may be read from its answer. */
import { decodeString, jsonText, membersAt, type Payload, payload, type SessionRef } from "../../contract/index.ts";
import type { Message } from "../../wire/jsonrpc/index.ts";
import { LATEST_REVISION, VERSIONS } from "../../wire/mcp/index.ts";
import { UpstreamFault } from "./transport.ts";

export type Agreement = {
  readonly version: string;
  readonly capabilities: Payload;
  readonly instructions?: string;
};

/** A client's own session is opened in its name and with exactly its capabilities; a shared one declares nothing. */
export function initializeParams(client: SessionRef | undefined, gatewayVersion: string): Payload {
  const capabilities = client?.capabilities.text ?? "{}";
  const clientInfo = client?.clientInfo.text ?? jsonText({ name: "isthmus", version: gatewayVersion });
  const version = jsonText(LATEST_REVISION.version);
  return payload(`{"protocolVersion":${version},"capabilities":${capabilities},"clientInfo":${clientInfo}}`);
}

/** Throws UpstreamFault when the answer opens no session that we could use. */
export function readAgreement(answer: Message): Agreement {
  if (answer.outcome === "fault")
    throw invalid(`The server refused to open a session (code ${answer.members?.textOf("code") ?? "unknown"}).`);
  const version = decodeString(answer.members?.textOf("protocolVersion"));
  if (version === undefined || !VERSIONS.includes(version))
    throw invalid(
      `The server speaks ${version === undefined ? "no known revision of MCP" : `MCP ${version.slice(0, 32)}, which the gateway does not`}.`,
    );
  const capabilities = answer.members?.textOf("capabilities") ?? "{}";
  if (!membersAt(capabilities, 0)) throw invalid("The server declared no capabilities.");
  const instructions = decodeString(answer.members?.textOf("instructions"));
  return { version, capabilities: payload(capabilities), ...(instructions === undefined ? {} : { instructions }) };
}

function invalid(message: string): UpstreamFault {
  return new UpstreamFault({ kind: "invalid", message });
}
