import type { IncomingMessage } from "node:http";

/** Calls `onBody` with the whole body, or `onTooLarge` once; neither when the client goes away before the end. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  onBody: (body: Buffer) => void,
  onTooLarge: () => void,
): void {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) return onTooLarge();
  let first: Buffer | undefined;
  let rest: Buffer[] | undefined;
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      // Told once: later chunks are still counted and fall through here with nothing kept.
      if (bytes - chunk.length <= maxBytes) onTooLarge();
      rest = undefined;
      return;
    }
    if (!first) first = chunk;
    else {
      rest ??= [first];
      rest.push(chunk);
    }
  });
  request.on("end", () => {
    if (bytes <= maxBytes) onBody(rest ? Buffer.concat(rest) : (first ?? Buffer.alloc(0)));
  });
}
