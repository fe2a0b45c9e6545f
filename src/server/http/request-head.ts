/**
 * Reads the head of a request. Strict on purpose: this is where two readers of one stream of bytes must not come to
 * disagree about where a request ends, so whatever could be understood in two ways is refused.
 */
import { RequestFault } from "./request-fault.ts";

/** How the body is delimited: a number of bytes (0: there is none), or chunks. */
export type RequestFraming = number | "chunked";

export type RequestHead = {
  readonly method: string;
  readonly url: string;
  /** Frozen; without the headers that say how the body is framed. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly framing: RequestFraming;
  /** HTTP/1.0: no chunks, and closed after the answer unless the client asked otherwise. */
  readonly isOld: boolean;
  readonly keepsAlive: boolean;
  /** The client waits for "100 Continue" before it sends the body. */
  readonly expectsContinue: boolean;
  /** Where the digits of Content-Length stand in the text; both 0 without one. */
  readonly lengthStart: number;
  readonly lengthEnd: number;
};

export const MAX_HEAD_BYTES = 16 * 1024;
const MAX_HEADERS = 100;

const REQUEST_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\/[\x21\x22\x24-\x7e]*) HTTP\/1\.([01])$/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;
const LENGTH = /^\d{1,15}$/;
const FRAMING = new Set(["content-length", "transfer-encoding"]);

/** Said twice, each of these could mean one thing to us and another to whoever stands before us. */
const SINGLE = new Set([
  ...FRAMING,
  "host",
  "content-type",
  "content-encoding",
  "expect",
  "origin",
  "authorization",
  "mcp-session-id",
  "mcp-protocol-version",
  "last-event-id",
]);

/** Takes a head with its empty line. Throws RequestFault. */
export function parseRequestHead(text: string): RequestHead {
  const lines = text.slice(0, -4).split("\r\n");
  if (lines.length - 1 > MAX_HEADERS) throw new RequestFault(431, `more than ${MAX_HEADERS} headers`);
  const [, method = "", url = "", minor] = REQUEST_LINE.exec(lines[0] as string) ?? [];
  if (minor === undefined) throw new RequestFault(400, "the request line is not valid");
  const isOld = minor === "0";
  const all = readFields(lines);
  if (all.host === undefined && !isOld) throw new RequestFault(400, "a Host header is required");
  if ((all["content-encoding"] ?? "identity").toLowerCase() !== "identity")
    throw new RequestFault(415, "a compressed body is not accepted");
  const { "content-length": length, "transfer-encoding": _, ...headers } = all;
  const lengthStart = length === undefined ? 0 : lengthIn(text);
  return {
    method,
    url,
    headers: Object.freeze(Object.assign(Object.create(null), headers)),
    framing: framingOf(all, isOld),
    isOld,
    keepsAlive: keepsAlive(all.connection, isOld),
    expectsContinue: expectsContinue(all.expect, isOld),
    lengthStart,
    lengthEnd: lengthStart + (length?.length ?? 0),
  };
}

type Fields = Record<string, string | undefined>;

function readFields(lines: readonly string[]): Fields {
  const fields: Fields = Object.create(null);
  for (let index = 1; index < lines.length; index++) {
    const [, written = "", value] = FIELD.exec(lines[index] as string) ?? [];
    if (value === undefined) throw new RequestFault(400, "a header line is not valid");
    const name = written.toLowerCase();
    const before = fields[name];
    if (before !== undefined && SINGLE.has(name)) throw new RequestFault(400, `the header ${name} stands there twice`);
    fields[name] = before === undefined ? trimBlanks(value) : `${before}, ${trimBlanks(value)}`;
  }
  return fields;
}

/** Only what HTTP calls blank: `trim` also takes the byte a0, which would make "\xa0chunked" the same as "chunked". */
function trimBlanks(value: string): string {
  return value.replace(/^[\t ]+/, "").replace(/(?<![\t ])[\t ]+$/, "");
}

function framingOf(fields: Fields, isOld: boolean): RequestFraming {
  const length = fields["content-length"];
  const encoding = fields["transfer-encoding"];
  if (encoding !== undefined) {
    if (length !== undefined) throw new RequestFault(400, "the request has a length and a transfer encoding");
    if (isOld || encoding.toLowerCase() !== "chunked")
      throw new RequestFault(400, "the transfer encoding must be chunked, and not from HTTP 1.0");
    return "chunked";
  }
  if (length === undefined) return 0;
  if (!LENGTH.test(length)) throw new RequestFault(400, "the content length is not a number");
  return Number(length);
}

/** Where its digits begin: the name stands there once, as a line of its own. */
function lengthIn(text: string): number {
  const match = /\r\ncontent-length:[\t ]*/i.exec(text) as RegExpExecArray;
  return match.index + match[0].length;
}

function keepsAlive(connection: string | undefined, isOld: boolean): boolean {
  const words = connection === undefined ? [] : wordsIn(connection);
  return !words.includes("close") && (!isOld || words.includes("keep-alive"));
}

/** Of a list in a header. Not by one pattern for blanks and comma: that would look at each blank for each of those before it. */
export function wordsIn(list: string): readonly string[] {
  return list
    .toLowerCase()
    .split(",")
    .map((word) => word.trim());
}

function expectsContinue(expect: string | undefined, isOld: boolean): boolean {
  if (expect === undefined || isOld) return false;
  if (expect.toLowerCase() !== "100-continue") throw new RequestFault(417, "this expectation cannot be met");
  return true;
}
