import type { Socket } from "node:net";
import { readBuffer } from "../../providers/mcp/http/read-buffer.ts";

/**
 * What Node's `onread` option sets. It takes that option only for sockets that it opens, not for those that it accepts, and
 * what it sets is not documented; where it is gone, nothing is lost but time.
 */
type Readable = { readonly _handle?: { useUserBuffer?(buffer: Buffer): void } | null };

type Parts = { readonly buffer: symbol; readonly callback: symbol };

let parts: Parts | undefined;

/**
 * Reads of an accepted socket go where those of opened ones go, and are handed over as latin1 text: Node would allocate 64 KB
 * for each, which was some 6 % of what a call costs. False where that cannot be: then they are "data", as ever.
 */
export function readShared(socket: Socket & Readable, onText: (text: string) => void): boolean {
  parts ??= partsOf(socket);
  // Of TLS only the bytes in clear would go there, and some may have been read already.
  if (!parts || "encrypted" in socket || !socket._handle?.useUserBuffer) return false;
  const buffer = readBuffer();
  const callback = (bytes: number) => onText(buffer.toString("latin1", 0, bytes));
  Object.assign(socket, { [parts.buffer]: buffer, [parts.callback]: callback });
  socket._handle.useUserBuffer(buffer);
  return true;
}

function partsOf(socket: Socket): Parts | undefined {
  const named = (name: string) => Object.getOwnPropertySymbols(socket).find((part) => part.description === name);
  const [buffer, callback] = [named("kBuffer"), named("kBufferCb")];
  return buffer && callback && { buffer, callback };
}
