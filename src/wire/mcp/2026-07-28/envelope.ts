/** What every request of 2026-07-28 carries in `params._meta`: its version, who sends it, what that client can do. */
import { copyText, decodeString, type Members, type Payload, payload } from "../../../contract/index.ts";

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

/** The extension by which a client says that it takes tasks, and a server that it makes them. */
export const TASKS_EXTENSION = `${PREFIX}tasks`;

export type Envelope = {
  readonly version: string | undefined;
  /** As the client wrote it; undefined when it is missing or no object. */
  readonly capabilities: Payload | undefined;
  /** Its JSON text, not judged yet; so is the level. */
  readonly clientInfo: string | undefined;
  readonly logLevel: string | undefined;
  /** What else stands in `_meta`, as its JSON text; undefined when there is nothing else. */
  readonly rest: string | undefined;
};

/** Clients send the same words with every request: what was made of them is kept. */
type Known = { readonly meta: string; readonly envelope: Envelope };
const KNOWN = new Map<string, Known>();
let last: Known | undefined;
const MAX_KNOWN = 256;
const MAX_KNOWN_LENGTH = 4096;
/** Members that differ from request to request. */
const CHANGING = ['"progressToken"', '"traceparent"', '"dev.isthmus/idempotencyKey"'];

/** The envelope of a request's params; undefined where `_meta` names no version, which is how the eras are told apart. */
export function readEnvelope(params: Members | undefined): Envelope | undefined {
  if (last && params?.isText("_meta", last.meta)) return last.envelope;
  const meta = params?.textOf("_meta");
  if (meta === undefined) return undefined;
  const known = KNOWN.get(meta);
  if (known) {
    last = known;
    return known.envelope;
  }
  // Keys of params are never written with escapes, those of `_meta` may be.
  if (!meta.startsWith("{") || !(meta.includes(ENVELOPE_KEYS.version) || meta.includes("\\"))) return undefined;
  const envelope = parseEnvelope(payload(meta));
  if (envelope) remember(meta, envelope);
  return envelope;
}

function parseEnvelope(meta: Payload): Envelope | undefined {
  const version = meta.at([ENVELOPE_KEYS.version]);
  if (version === undefined) return undefined;
  const capabilities = meta.at([ENVELOPE_KEYS.capabilities]);
  return {
    version: decodeString(version),
    capabilities: capabilities?.startsWith("{") ? payload(capabilities) : undefined,
    clientInfo: meta.at([ENVELOPE_KEYS.clientInfo]),
    logLevel: meta.at([ENVELOPE_KEYS.logLevel]),
    rest: restOf(meta),
  };
}

function restOf(meta: Payload): string | undefined {
  let rest = meta;
  for (const key of Object.values(ENVELOPE_KEYS)) rest = rest.splice([key]);
  return /^\{\s*\}$/.test(rest.text) ? undefined : rest.text;
}

function remember(meta: string, envelope: Envelope): void {
  if (meta.length > MAX_KNOWN_LENGTH || CHANGING.some((member) => meta.includes(member))) return;
  const [oldest] = KNOWN.keys();
  if (KNOWN.size >= MAX_KNOWN && oldest !== undefined) KNOWN.delete(oldest);
  // A copy: a piece of a message would keep the whole message.
  const known = {
    meta: copyText(meta),
    envelope: {
      ...envelope,
      ...(envelope.capabilities && { capabilities: payload(copyText(envelope.capabilities.text)) }),
      clientInfo: envelope.clientInfo && copyText(envelope.clientInfo),
      logLevel: envelope.logLevel && copyText(envelope.logLevel),
      rest: envelope.rest && copyText(envelope.rest),
    },
  };
  KNOWN.set(known.meta, known);
}

/** The params without the envelope; other members of `_meta` stay, and an empty `_meta` goes. */
export function stripEnvelope(params: Payload): Payload {
  const meta = params.at(["_meta"]);
  if (meta === undefined || !meta.startsWith("{")) return params;
  return params.splice(["_meta"], restOf(payload(meta)));
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
