import { createHash } from "node:crypto";
import { type BlobFacts, GatewayError } from "../../contract/index.ts";

/** What is known of bytes when all of them have passed. */
export type Gauge = Pick<{ -readonly [Key in keyof BlobFacts]: BlobFacts[Key] }, "bytes" | "digest">;

/** Passes the bytes on and measures them. Throws with the first chunk that is too much, before it is passed on. */
export async function* measure(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  maxBytes: number,
  gauge: Gauge,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const chunk of source instanceof Uint8Array ? [source] : source) {
    if (!(chunk instanceof Uint8Array)) throw new GatewayError("BAD_CALL", { message: "A blob is made of bytes." });
    gauge.bytes += chunk.length;
    if (gauge.bytes > maxBytes) {
      throw new GatewayError("BAD_CALL", {
        message: `The blob is larger than ${maxBytes} bytes.`,
        details: { maxBytes },
      });
    }
    hash.update(chunk);
    yield chunk;
  }
  gauge.digest = hash.digest("hex");
}

/** Passes the bytes on and throws at the end if they are not those that were put. */
export async function* check(chunks: AsyncIterable<Uint8Array>, facts: BlobFacts): AsyncGenerator<Uint8Array> {
  const found: Gauge = { bytes: 0, digest: "" };
  yield* measure(chunks, Number.POSITIVE_INFINITY, found);
  if (found.digest === facts.digest && found.bytes === facts.bytes) return;
  throw new GatewayError("INTERNAL", {
    message: "The blob is damaged: its bytes are not those that were kept.",
    details: { id: facts.id },
  });
}
