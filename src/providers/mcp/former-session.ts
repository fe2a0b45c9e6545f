/** An upstream session that another process has opened: what is remembered of it, as text and as we use it. */
import * as z from "zod";
import { payload, type UpstreamRecall } from "../../contract/index.ts";
import { MAX_EVENT_ID } from "../../wire/sse/index.ts";
import { MAX_CAPABILITIES, MAX_INSTRUCTIONS } from "./declarations.ts";
import type { Agreement } from "./handshake.ts";
import { MAX_SESSION_ID, type SessionHandle } from "./transport.ts";

const rememberedSchema = z.lazy(() =>
  z.object({
    /** Where the server was: what one server knows is nobody else's business. */
    url: z.string(),
    id: z.string().min(1).max(MAX_SESSION_ID),
    lastEventId: z.string().max(MAX_EVENT_ID),
    version: z.string(),
    capabilities: z.string().max(MAX_CAPABILITIES),
    instructions: z.string().max(MAX_INSTRUCTIONS).optional(),
    isGateway: z.boolean().default(false),
    /** The capabilities that the session was opened with. */
    declared: z.string(),
    /** The log level that was set, as JSON text. */
    level: z.string().optional(),
    /** Resources that are subscribed to. */
    uris: z.array(z.string()),
  }),
);

export type Remembered = z.output<typeof rememberedSchema>;

export type FormerSession = {
  readonly handle: SessionHandle;
  readonly agreement: Agreement;
  readonly level: string | undefined;
  readonly uris: readonly string[];
  /** Smaller numbers may have been given to requests by those who had the session before. */
  readonly firstId: number;
};

/** More requests than one process can make in a session. */
const IDS_PER_TURN = 2 ** 32;
const MAX_TURNS = 2 ** 20;

/** Undefined where it does not fit: the server is another, or another version of the gateway wrote it. */
export function readFormer(recall: UpstreamRecall, url: string, declared: string): FormerSession | undefined {
  const remembered = readRemembered(recall.state);
  if (remembered?.url !== url || remembered.declared !== declared) return undefined;
  const { id, lastEventId, version, capabilities, instructions, isGateway, level, uris } = remembered;
  return {
    handle: { id, lastEventId },
    agreement: {
      version,
      capabilities: payload(capabilities),
      isGateway,
      ...(instructions === undefined ? {} : { instructions }),
    },
    level,
    uris,
    firstId: (recall.turn % MAX_TURNS) * IDS_PER_TURN + 1,
  };
}

function readRemembered(state: string): Remembered | undefined {
  try {
    return rememberedSchema.parse(JSON.parse(state));
  } catch {
    return undefined;
  }
}
