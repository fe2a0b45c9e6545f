/** Requests whose HTTP and whose message tell two stories. */
import { gzipSync } from "node:zlib";
import { callText, named, type SmugglingCase, utf8 } from "./case.ts";
import { BODY, chunked, executed, refusedWith } from "./http-request.ts";

const BATCH = `[${BODY}]`;
const WHOLE = utf8(callText({ more: ',"x":"é😀"' })).replaceAll("@", "files.");
const SESSION = "Mcp-Session-Id: {session}\r\n";
const VERSION = "MCP-Protocol-Version: ";

function split(text: string, ...places: string[]): string[] {
  const at = places.map((place) => text.indexOf(place) + 1);
  return [...at, text.length].map((end, index) => text.slice(at[index - 1] ?? 0, end));
}

export const HTTP_CASES: readonly SmugglingCase[] = [
  ...refusedWith(404, {
    "an unknown session id": { session: "Mcp-Session-Id: x\r\n" },
    "a session of another catalog": { line: "POST /files/mcp HTTP/1.1", body: named('"safe"') },
    "a path in capitals": { line: "POST /MCP HTTP/1.1" },
    "a path with two slashes": { line: "POST //mcp HTTP/1.1" },
    "a path with dots": { line: "POST /files/../mcp HTTP/1.1" },
    "a path with an escaped slash": { line: "POST /files%2fmcp HTTP/1.1" },
    "a catalog nobody has": { line: "POST /nobody/mcp HTTP/1.1", session: "" },
  }),
  ...refusedWith(400, {
    "the session id twice": { session: SESSION + SESSION },
    "the session id twice, one of them unknown": { session: `${SESSION}Mcp-Session-Id: x\r\n` },
    "a second content type": { more: "Content-Type: text/plain\r\n" },
    "length and chunks at once": {
      length: `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`,
      body: chunked(BODY).body ?? "",
    },
    "two lengths": { length: `Content-Length: ${BODY.length}\r\nContent-Length: 5\r\n` },
    "a negative length": { length: "Content-Length: -1\r\n" },
    "a length that cuts the message": { length: "Content-Length: 20\r\n" },
    "no host": { host: "" },
    "a revision nobody knows": { more: `${VERSION}2019-01-01\r\n` },
    "two revisions": { more: `${VERSION}2025-11-25\r\n${VERSION}2025-03-26\r\n` },
    "a batch under a revision the session does not have": { more: `${VERSION}2025-03-26\r\n`, body: BATCH },
    "a batch without a session": { more: `${VERSION}2025-03-26\r\n`, session: "", body: BATCH },
    "an empty body": { body: "" },
    "a header line without a colon": { more: "Mcp-Session-Id {session}\r\n" },
    "a header with a space before the colon": { session: "", more: "Mcp-Session-Id : {session}\r\n" },
  }),
  ...refusedWith(415, {
    "a compressed body": { more: "Content-Encoding: gzip\r\n", body: gzipSync(BODY).toString("latin1") },
    "no content type": { type: "" },
    "a content type that only starts like JSON": { type: "Content-Type: application/json-patch+json\r\n" },
    "plain text": { type: "Content-Type: text/plain\r\n" },
    "a form": { type: "Content-Type: application/x-www-form-urlencoded\r\n" },
  }),
  ...refusedWith(403, {
    "a host that is not ours": { host: "Host: evil.example\r\n" },
    "a host that only starts like ours": { host: "Host: localhost.evil.example\r\n" },
    "an origin that is not ours": { more: "Origin: http://evil.example\r\n" },
    "an origin that only starts like ours": { more: "Origin: http://localhost.evil.example\r\n" },
    "no origin at all, by name": { more: "Origin: null\r\n" },
  }),
  ...executed({
    "an ordinary request": {},
    "a chunk that ends inside a character": chunked(...split(WHOLE, "\xc3", "\xf0\x9f")),
    "a chunk that ends inside the method": chunked(...split(WHOLE, "tools/c", '"na')),
    "one chunk per byte": chunked(...WHOLE),
    "another charset by name": { type: "Content-Type: application/json; charset=utf-16\r\n" },
    "a revision that contradicts the session": { more: `${VERSION}2025-03-26\r\n` },
    "a method override": { more: "X-HTTP-Method-Override: DELETE\r\n" },
    "a query": { line: "POST /mcp?name=files.danger&sessionId=x HTTP/1.1" },
  }),
];
