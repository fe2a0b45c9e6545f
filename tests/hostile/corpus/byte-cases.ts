/** Whole requests that are wrong, byte by byte, and the status they are answered with before the connection closes. */

export type ByteCase = { readonly name: string; readonly bytes: string; readonly status: number };

const POST = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";

export const BYTE_CASES: readonly ByteCase[] = [
  { name: "not HTTP", bytes: "hello\r\n\r\n", status: 400 },
  { name: "a greeting of TLS", bytes: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", status: 400 },
  { name: "a preface of HTTP/2", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 400 },
  { name: "an unknown version of HTTP", bytes: "GET /healthz HTTP/9.9\r\n\r\n", status: 400 },
  { name: "no Host", bytes: "GET /healthz HTTP/1.1\r\n\r\n", status: 400 },
  { name: "a space before the colon", bytes: `${POST}Content-Length : 2\r\n\r\n{}`, status: 400 },
  { name: "a length that is no number", bytes: `${POST}Content-Length: two\r\n\r\n{}`, status: 400 },
  { name: "a negative length", bytes: `${POST}Content-Length: -1\r\n\r\n{}`, status: 400 },
  { name: "two lengths", bytes: `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, status: 400 },
  {
    name: "a length and chunks",
    bytes: `${POST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    status: 400,
  },
  {
    name: "a chunk size that is no number",
    bytes: `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    status: 400,
  },
  {
    name: "a chunk size beyond all bounds",
    bytes: `${POST}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n`,
    status: 400,
  },
  { name: "a declared length beyond maxBody", bytes: `${POST}Content-Length: 99999999999\r\n\r\n`, status: 413 },
  { name: "a header beyond 16 KiB", bytes: `${POST}X-Long: ${"x".repeat(17_000)}\r\n\r\n`, status: 431 },
  { name: "a line feed in the path", bytes: "GET /health\nz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", status: 400 },
  {
    name: "a path beyond decoding",
    bytes: "GET /%zz/mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
    status: 404,
  },
];
