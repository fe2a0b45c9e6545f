/** Requests whose end two readers find in different places, so that one of them sees a second request in the first. */
import type { SmugglingCase } from "./case.ts";
import { BODY, chunked, executed, refusedWith } from "./http-request.ts";

const CHUNKED = chunked(BODY);
const SIZE = BODY.length.toString(16);
const length = (value: string) => ({ length: `Content-Length:${value}\r\n` });
const encoding = (value: string) => ({ ...CHUNKED, length: `Transfer-Encoding: ${value}\r\n` });
const chunks = (body: string) => ({ ...CHUNKED, body });

export const FRAMING_CASES: readonly SmugglingCase[] = [
  ...refusedWith(400, {
    "a length with a plus": length(` +${BODY.length}`),
    "a length in hexadecimal": length(` 0x${SIZE}`),
    "a length with a fraction": length(` ${BODY.length}.0`),
    "two lengths in one line": length(` ${BODY.length}, 5`),
    "a length with a space in it": length(" 1 2"),
    "a length that is no number": length(" abc"),
    "an empty length": length(" "),
    "a length beyond every number": length(" 99999999999999999999999"),
    "another transfer encoding": encoding("gzip"),
    "chunks that are not the last encoding": encoding("chunked, gzip"),
    "a transfer encoding with a vertical tab": encoding("\vchunked"),
    "a transfer encoding in quotes": encoding('"chunked"'),
    "a space before the colon of the encoding": { ...CHUNKED, length: "Transfer-Encoding : chunked\r\n" },
    "chunks before a length": { ...CHUNKED, length: `Transfer-Encoding: chunked\r\nContent-Length: 5\r\n` },
    "a chunk size with a sign": chunks(`+${SIZE}\r\n${BODY}\r\n0\r\n\r\n`),
    "a chunk size with 0x": chunks(`0x${SIZE}\r\n${BODY}\r\n0\r\n\r\n`),
    "a chunk size that is no number": chunks(`zz\r\n${BODY}\r\n0\r\n\r\n`),
    "a chunk size beyond every number": chunks(`fffffffffffffffff\r\n${BODY}\r\n0\r\n\r\n`),
    "a chunk longer than its size": chunks(`5\r\n${BODY}\r\n0\r\n\r\n`),
    "an empty chunk size": chunks(`\r\n${BODY}\r\n0\r\n\r\n`),
    "a folded header": { more: "X-Note: a\r\n b\r\n" },
    "a header name with a space": { more: "X Note: a\r\n" },
    "a header without a name": { more: ": a\r\n" },
    "a NUL in a header": { more: "X-Note: a\0b\r\n" },
    "a bare CR in a header": { more: "X-Note: a\rb\r\n" },
    "another protocol": { line: "POST /mcp HTTQ/1.1" },
    "a method with a space before it": { line: " POST /mcp HTTP/1.1" },
  }),
  ...executed({
    "chunks, the encoding in capitals": encoding("CHUNKED"),
    "a chunk size with leading zeros": chunks(`000${SIZE}\r\n${BODY}\r\n0\r\n\r\n`),
    "a trailer behind the chunks": chunks(`${SIZE}\r\n${BODY}\r\n0\r\nMcp-Session-Id: x\r\n\r\n`),
    "a chunk with an extension": chunks(`${SIZE};a=b\r\n${BODY}\r\n0\r\n\r\n`),
    "a length with leading zeros": length(` 000${BODY.length}`),
    "white space around the length": length(`\t ${BODY.length} \t`),
  }),
];

/** RFC 9112, section 3.2: more than one Host is a 400, because whoever stands before us may have judged the other one. */
export const HOST_CASES: readonly SmugglingCase[] = refusedWith(400, {
  "a host twice": { host: "Host: 127.0.0.1\r\nHost: evil.example\r\n" },
});
