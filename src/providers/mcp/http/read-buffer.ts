const READ_BYTES = 64 * 1024;

const SHARED = process.platform === "win32" ? undefined : Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * Where a socket reads to: one buffer for all sockets of the process. A read allocates nothing but its text, and writes to
 * memory that is in the cache already, however many servers and clients there are. That is sound where libuv asks for the
 * buffer, reads and calls back in one go; on Windows a read is pending on its buffer, so there each socket has its own.
 */
export function readBuffer(): Buffer {
  return SHARED ?? Buffer.allocUnsafeSlow(READ_BYTES);
}
