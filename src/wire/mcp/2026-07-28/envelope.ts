/** What every request of 2026-07-28 carries in `params._meta`: its version, who sends it, what that client can do. */
import { decodeString, type Payload, payload } from "../../../contract/index.ts";

const PREFIX = "io.modelcontextprotocol/";

export const ENVELOPE_KEYS = {
  version: `${PREFIX}protocolVersion`,
  capabilities: `${PREFIX}clientCapabilities`,
  clientInfo: `${PREFIX}clientInfo`,
  logLevel: `${PREFIX}logLevel`,
} as const;

/** Results say who made them here; listen streams tag their messages there. */
export const SERVER_INFO = `${PREFIX}serverInfo`;
export const SUBSCRIPTION_ID = `${PREFIX}subscriptionId`;

export type Envelope = {
  readonly version: string | undefined;
  /** As the client wrote it; undefined when it is missing or no object. */
  readonly capabilities: Payload | undefined;
  readonly clientInfo: Payload | undefined;
  /** Its JSON text, not judged yet. */
  readonly logLevel: string | undefined;
};

/** The envelope of a request's params; undefined where `_meta` names no version, which is how the eras are told apart. */
export function readEnvelope(params: Payload): Envelope | undefined {
  if (!params.text.includes(ENVELOPE_KEYS.version)) return undefined;
  const meta = params.at(["_meta"]);
  if (meta === undefined || !meta.startsWith("{")) return undefined;
  const whole = payload(meta);
  const member = (key: string): string | undefined => whole.at([key]);
  const version = member(ENVELOPE_KEYS.version);
  if (version === undefined) return undefined;
  return {
    version: decodeString(version),
    capabilities: objectOf(member(ENVELOPE_KEYS.capabilities)),
    clientInfo: objectOf(member(ENVELOPE_KEYS.clientInfo)),
    logLevel: member(ENVELOPE_KEYS.logLevel),
  };
}

function objectOf(text: string | undefined): Payload | undefined {
  return text?.startsWith("{") ? payload(text) : undefined;
}

/** The params without the envelope; other members of `_meta` stay, and an empty `_meta` goes. */
export function stripEnvelope(params: Payload): Payload {
  let stripped = params;
  for (const key of Object.values(ENVELOPE_KEYS)) stripped = stripped.splice(["_meta", key]);
  return stripped.at(["_meta"]) === "{}" ? stripped.splice(["_meta"]) : stripped;
}

/** The params with an envelope of ours. `envelope` texts are JSON. */
export function addEnvelope(
  params: Payload,
  envelope: { version: string; capabilities: string; clientInfo: string; logLevel?: string | undefined },
): Payload {
  let added = params.text === "" ? params.splice([], "{}") : params;
  added = added.splice(["_meta", ENVELOPE_KEYS.version], JSON.stringify(envelope.version));
  added = added.splice(["_meta", ENVELOPE_KEYS.clientInfo], envelope.clientInfo);
  added = added.splice(["_meta", ENVELOPE_KEYS.capabilities], envelope.capabilities);
  return envelope.logLevel === undefined ? added : added.splice(["_meta", ENVELOPE_KEYS.logLevel], envelope.logLevel);
}
