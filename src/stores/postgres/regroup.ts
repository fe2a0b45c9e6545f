/** The same bytes in pieces of `size`, of which only the last may be smaller. Never empty ones. */
export async function* regroup(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    for (let rest = chunk; rest.length > 0; ) {
      const part = rest.subarray(0, size - heldBytes);
      rest = rest.subarray(part.length);
      held.push(part);
      heldBytes += part.length;
      if (heldBytes < size) continue;
      yield Buffer.concat(held);
      held = [];
      heldBytes = 0;
    }
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}
