import type { Socket } from "node:net";

/**
 * What Node's `onread` option sets. It takes that option only for sockets that it opens, not for those that it accepts, and
 * what it sets is not documented; where it is gone, nothing is lost but time.
 */
type Inner = { [part: symbol]: unknown; readonly _handle?: { useUserBuffer?(buffer: Buffer): void } | null };

type Parts = { readonly buffer: symbol; readonly callback: symbol };

/** As large as what Node would allocate for each read. On Windows a read is pending on its buffer, so there none is shared. */
const SHARED = process.platform === "win32" ? undefined : Buffer.allocUnsafeSlow(64 * 1024);

let parts: Parts | undefined;

/**
 * Reads of an accepted socket go into one buffer for all, and are handed over as latin1 text: Node would allocate 64 KB for
 * each, which was some 6 % of what a call costs. False where that cannot be: then they are "data", as ever.
 */
export function readShared(socket: Socket, onText: (text: string) => void): boolean {
  const inner = socket as unknown as Inner;
  parts ??= partsOf(inner);
  // Of TLS only the bytes in clear would go there, and some may have been read already.
  if (!SHARED || !parts || "encrypted" in socket || !inner._handle?.useUserBuffer) return false;
  inner[parts.buffer] = SHARED;
  inner[parts.callback] = (bytes: number) => onText(SHARED.toString("latin1", 0, bytes));
  inner._handle.useUserBuffer(SHARED);
  return true;
}

function partsOf(inner: Inner): Parts | undefined {
  const named = (name: string) => Object.getOwnPropertySymbols(inner).find((part) => part.description === name);
  const [buffer, callback] = [named("kBuffer"), named("kBufferCb")];
  return buffer && callback && { buffer, callback };
}
