/**
 * Reads the head of a response. The text is checked once as a whole and kept; single headers are looked up on demand,
 * because a relayed answer needs three or four of them at most.
 */

export type ResponseHead = {
  status: number;
  /** Lower case, without parameters; "" when the header is missing. */
  contentType: string;
  /** The value without surrounding blanks; several headers of one name are joined with ", ". */
  header(name: string): string | undefined;
  /** All of it as it came, with the status line and the empty line. */
  readonly text: string;
};

/** How the body is delimited: a number of bytes, chunks, or the end of the connection. */
export type BodyFraming = number | "chunked" | "close";

export type ParsedHead = {
  head: ResponseHead;
  framing: BodyFraming;
  /** False when the socket must not serve another exchange. */
  keepAlive: boolean;
  /** What the server promised with `Keep-Alive: timeout=`, in milliseconds. */
  keepAliveMs: number | undefined;
};

// Strict on purpose: a folded line, a bare CR or LF, a NUL or a blank before the colon is how two readers of one answer
// come to disagree about where it ends.
const HEAD =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/;
const FIELD_LINES = /^(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n$/;
const LENGTH = /^\d{1,15}$/;

/** Takes a head with its empty line. Throws an Error that says what is wrong with it. */
export function parseHead(text: string): ParsedHead {
  if (!HEAD.test(text)) throw new Error("the response head is not valid HTTP/1.1");
  const fields = new HeadFields(text);
  const isOld = text.charCodeAt(7) === 48; // HTTP/1.0: no chunks, and never kept alive
  const connection = fields.header("connection")?.toLowerCase();
  const hasEncoding = (fields.header("content-encoding") ?? "identity").toLowerCase() !== "identity";
  if (hasEncoding) throw new Error("the response body is compressed, which was not asked for");
  return {
    head: fields,
    framing: framingOf(fields, isOld),
    keepAlive: !isOld && (connection === undefined || !/(?:^|,)\s*close\s*(?:,|$)/.test(connection)),
    keepAliveMs: keepAliveOf(fields.header("keep-alive")),
  };
}

/**
 * Remembers the last head. Answers of one server differ in little but their body: often even the head is the same, byte
 * for byte. One for all connections to a server, so that it is in the cache whichever of them is used.
 */
export class LastHead {
  #text = "";
  #parsed: ParsedHead | undefined;

  /** As `parseHead`. */
  parse(text: string): ParsedHead {
    if (this.#parsed === undefined || text !== this.#text) {
      this.#parsed = parseHead(text);
      this.#text = text;
    }
    return this.#parsed;
  }
}

/** True for the trailer section of a chunked body, with its empty line. */
export function isFieldSection(text: string): boolean {
  return FIELD_LINES.test(text);
}

/**
 * Blanks and tabs only: `trim` also takes byte A0, and "\xa0chunked" is not "chunked". The end of a run of blanks is looked for
 * from its first one alone: from each of them, a head of blanks would take seconds.
 */
function trimBlanks(text: string): string {
  return text.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, "");
}

class HeadFields implements ResponseHead {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  readonly #lower: string; // same length: lower-casing never changes the length of latin1 text

  constructor(text: string) {
    this.text = text;
    this.#lower = text.toLowerCase();
    this.status = Number(text.slice(9, 12));
    const type = this.header("content-type") ?? "";
    const semicolon = type.indexOf(";");
    this.contentType = (semicolon === -1 ? type : type.slice(0, semicolon)).trim().toLowerCase();
  }

  header(name: string): string | undefined {
    const needle = `\r\n${name.toLowerCase()}:`;
    let at = this.#lower.indexOf(needle);
    if (at === -1) return undefined;
    let value: string | undefined;
    while (at !== -1) {
      const end = this.text.indexOf("\r\n", at + needle.length);
      const one = trimBlanks(this.text.slice(at + needle.length, end));
      value = value === undefined ? one : `${value}, ${one}`;
      at = this.#lower.indexOf(needle, end);
    }
    return value;
  }
}

function framingOf(head: ResponseHead, isOld: boolean): BodyFraming {
  const { status } = head;
  const encoding = head.header("transfer-encoding");
  const length = head.header("content-length");
  if (encoding !== undefined && length !== undefined)
    throw new Error("the response has a length and a transfer encoding");
  if (status < 200 || status === 204 || status === 304) return 0;
  if (encoding !== undefined) {
    if (isOld || encoding.toLowerCase() !== "chunked") throw new Error("the response has an unknown transfer encoding");
    return "chunked";
  }
  if (length === undefined) return "close";
  const [first = "", ...others] = length.split(",").map(trimBlanks);
  if (!LENGTH.test(first)) throw new Error("the response length is not a number");
  if (others.some((other) => other !== first)) throw new Error("the response has several different lengths");
  return Number(first);
}

function keepAliveOf(value: string | undefined): number | undefined {
  const seconds = value === undefined ? undefined : /(?:^|[,;\s])timeout=(\d{1,6})/i.exec(value)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
