/** What the processes of a gateway prove themselves with to each other. */
import { hkdfSync, randomBytes, randomUUID } from "node:crypto";
import { type Entries, faultPoint, GatewayError } from "../../contract/index.ts";

const MIN_BYTES = 32;
const PURPOSE = "isthmus hop 1";
const ENTRY = "cluster:key";
const TTL_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/** The key of the hop alone: the operator's key may serve other purposes, too. */
export function hopKey(secret: string): Buffer {
  if (Buffer.byteLength(secret) < MIN_BYTES) throw new Error(`the cluster key needs at least ${MIN_BYTES} bytes`);
  return Buffer.from(hkdfSync("sha256", secret, "", PURPOSE, 32));
}

/**
 * Where the operator gives none: the first process makes a key, and whoever can read the store knows it. It belongs to an id
 * that never joins, so that everybody may claim it and nobody's end takes it away.
 */
export async function agreeOnKey(entries: Entries): Promise<string> {
  const value = randomBytes(MIN_BYTES).toString("base64url");
  faultPoint("cluster.key.before");
  const entry = await entries.claim(ENTRY, randomUUID(), { value, ttlMs: TTL_MS });
  faultPoint("cluster.key.after");
  if (entry === undefined) throw new GatewayError("STATE_UNAVAILABLE");
  return entry.value;
}
