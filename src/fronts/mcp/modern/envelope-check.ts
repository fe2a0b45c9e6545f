/** What every request of 2026-07-28 must say, judged in a fixed order: version, envelope, then what the headers repeat. */
import { decodeString, type HttpRequest, JsonFault, membersAt, type Payload } from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import {
  decodeHeader,
  ENVELOPE_KEYS,
  type Envelope,
  NAMED_METHODS,
  readEnvelope,
} from "../../../wire/mcp/2026-07-28/index.ts";
import { LOG_LEVELS } from "../../../wire/mcp/index.ts";
import { badEnvelope, headerMismatch, type ModernError, SUPPORTED_VERSIONS, unknownVersion } from "./modern-errors.ts";

type Headers = HttpRequest["headers"];

/** What a client may say of itself in one request. */
const MAX_DECLARED_BYTES = 64 * 1024;

export type Declared = {
  readonly capabilities: Payload;
  readonly logLevel: string | undefined;
  /** What else its `_meta` holds. */
  readonly meta: string | undefined;
};

export type Verdict = { readonly declared: Declared } | { readonly error: ModernError };

/** A version from which on every request has an envelope. Versions are dates and compare as text. */
export function isModernVersion(version: string | undefined): boolean {
  return version !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= (SUPPORTED_VERSIONS[0] as string);
}

/** Whether a message is of this era by its own words. One that says so twice is, and will be refused for it. */
export function hasEnvelope({ members }: Message): boolean {
  try {
    return readEnvelope(members) !== undefined;
  } catch (error) {
    if (error instanceof JsonFault) return true;
    throw error;
  }
}

/** Judges a request. Throws JsonFault. `headers` is absent on transports that have none. */
export function checkEnvelope(message: Message, headers: Headers | undefined): Verdict {
  const envelope = readEnvelope(message.members);
  if (!envelope) return { error: badEnvelope(`params._meta must have ${ENVELOPE_KEYS.version}`) };
  const error =
    versionError(envelope, headers) ?? envelopeError(envelope) ?? (headers && headerError(message, headers));
  if (error) return { error };
  const logLevel = envelope.logLevel === undefined ? undefined : decodeString(envelope.logLevel);
  return { declared: { capabilities: envelope.capabilities as Payload, logLevel, meta: envelope.rest } };
}

function versionError({ version }: Envelope, headers: Headers | undefined): ModernError | undefined {
  if (version === undefined) return badEnvelope(`${ENVELOPE_KEYS.version} must be a string`);
  if (headers) {
    const header = headers["mcp-protocol-version"];
    if (header === undefined) return headerMismatch("MCP-Protocol-Version", "is missing");
    if (header !== version) return headerMismatch("MCP-Protocol-Version", "differs from the body");
  }
  return SUPPORTED_VERSIONS.includes(version) ? undefined : unknownVersion(version.slice(0, 64));
}

/** Envelopes that were judged and found good: most clients send the same one again and again. */
const GOOD = new WeakSet<Envelope>();

function envelopeError(envelope: Envelope): ModernError | undefined {
  if (GOOD.has(envelope)) return undefined;
  const error = judgeEnvelope(envelope);
  if (!error) GOOD.add(envelope);
  return error;
}

function judgeEnvelope(envelope: Envelope): ModernError | undefined {
  if (!envelope.capabilities) return badEnvelope(`params._meta must have ${ENVELOPE_KEYS.capabilities}, an object`);
  const info = envelope.clientInfo;
  if (info !== undefined && !isClientInfo(info)) {
    return badEnvelope(`${ENVELOPE_KEYS.clientInfo} must be an object with a name and a version`);
  }
  if (envelope.capabilities.text.length + (info?.length ?? 0) > MAX_DECLARED_BYTES) {
    return badEnvelope(`capabilities and clientInfo may have ${MAX_DECLARED_BYTES} bytes together`);
  }
  const level = envelope.logLevel === undefined ? undefined : (decodeString(envelope.logLevel) ?? "");
  if (level === undefined || LOG_LEVELS.includes(level)) return undefined;
  return badEnvelope(`${ENVELOPE_KEYS.logLevel} must be one of ${LOG_LEVELS.join(", ")}`);
}

function isClientInfo(text: string): boolean {
  const members = membersAt(text, 0);
  return members?.textOf("name")?.startsWith('"') === true && members.textOf("version")?.startsWith('"') === true;
}

/** What headers repeat of the body, decoded; undefined inside: it cannot be. Requests on one connection mostly have the same. */
type Repeated = { readonly method: string | undefined; readonly name: string | undefined };
const REPEATED = new WeakMap<Headers, Repeated>();

function repeatedIn(headers: Headers): Repeated {
  const known = REPEATED.get(headers);
  if (known) return known;
  const repeated = { method: decodeHeader(headers["mcp-method"] ?? ""), name: decodeHeader(headers["mcp-name"] ?? "") };
  REPEATED.set(headers, repeated);
  return repeated;
}

function headerError(message: Message, headers: Headers): ModernError | undefined {
  const { method, name } = repeatedIn(headers);
  if (headers["mcp-method"] === undefined) return headerMismatch("Mcp-Method", "is missing");
  if (method !== message.method) return headerMismatch("Mcp-Method", "differs from the body");
  return nameError(message, headers, name);
}

/** A name that is missing from the body is the method's own concern. */
function nameError(message: Message, headers: Headers, said: string | undefined): ModernError | undefined {
  const key = NAMED_METHODS.get(message.method);
  if (key === undefined) return undefined;
  if (headers["mcp-name"] === undefined) return headerMismatch("Mcp-Name", "is missing");
  const name = decodeString(message.members?.textOf(key));
  return name === undefined || name === said ? undefined : headerMismatch("Mcp-Name", "differs from the body");
}
