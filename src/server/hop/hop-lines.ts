/**
 * The head of a request or answer on its way through another process: everything that is not about one connection goes on,
 * and one line of ours says whom it is for and how many processes it has passed.
 */
import { type HttpRequest, headerLine, LOCAL as LOCAL_USER, type Principal } from "../../contract/index.ts";
import { wordsIn } from "../http/request-head.ts";

const MARK = "isthmus-hop";
/** Whose request it is, as the process found out that the client reached. */
const ADDRESS = "isthmus-hop-address";
/** On an answer: nobody here has looked at the request. */
export const REFUSED = "isthmus-hop-refused";

/** Who sent it, as found out by the process that it came to. */
const PRINCIPAL = "isthmus-hop-principal";

/**
 * About one connection, or made anew by whoever writes the next head. What callers prove themselves with stays where it was
 * checked: the next process is told who they are.
 */
const LOCAL = new Set([
  "authorization",
  "proxy-authorization",
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "content-length",
  "date",
]);

/** Requests of one client connection have the same headers again and again. */
const known = new WeakMap<HttpRequest["headers"], string>();

export type HopMark = { readonly passed: number; readonly to: string };

export function requestHead(request: HttpRequest, mark: HopMark, bodyLength: number): string {
  let lines = known.get(request.headers);
  if (lines === undefined) {
    lines = linesOf(request.headers);
    known.set(request.headers, lines);
  }
  const { clientAddress } = request;
  const address = clientAddress === undefined ? "" : headerLine(ADDRESS, clientAddress);
  const marked = headerLine(MARK, `${mark.passed} ${mark.to}`) + address;
  const who = request.principal === LOCAL_USER ? "" : headerLine(PRINCIPAL, principalText(request.principal));
  const length = bodyLength === 0 && request.method !== "POST" ? "" : `Content-Length: ${bodyLength}\r\n`;
  return `${request.method} ${request.url} HTTP/1.1\r\n${lines}${marked}${who}${length}\r\n`;
}

function principalText(principal: Principal): string {
  return Buffer.from(JSON.stringify(principal)).toString("base64url");
}

/** What a peer has written; meaningless on a request that did not come from one. */
export function principalOf(headers: HttpRequest["headers"]): Principal {
  const text = headers[PRINCIPAL];
  return text === undefined ? LOCAL_USER : (JSON.parse(Buffer.from(text, "base64url").toString()) as Principal);
}

/** For requests of our own. */
export function markHeader(mark: HopMark): Record<string, string> {
  return { [MARK]: `${mark.passed} ${mark.to}` };
}

/** What a peer has written; meaningless on a request that did not come from one. */
export function markOf(headers: HttpRequest["headers"]): HopMark | undefined {
  const [, passed, to = ""] = /^(\d{1,3}) ([\x21-\x7e]+)$/.exec(headers[MARK] ?? "") ?? [];
  return passed === undefined ? undefined : { passed: Number(passed), to };
}

/** Of a client, on a request that did come from a peer; undefined where that asks for itself. */
export function addressOf(headers: HttpRequest["headers"]): string | undefined {
  return headers[ADDRESS];
}

function linesOf(headers: HttpRequest["headers"]): string {
  const named = namesIn(headers.connection);
  // HTTP/1.0 knows no Host; 1.1 does not do without.
  let lines = headers.host === undefined ? headerLine("host", "localhost") : "";
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && isPassedOn(name, named)) lines += headerLine(name, value);
  }
  return lines;
}

/** The lines of an answer that the client gets. `text`: its head as it came, checked for its form before. */
export function answerLines(text: string): string {
  const lines = text.slice(text.indexOf("\r\n") + 2, -4).split("\r\n");
  const nameOf = (line: string) => line.slice(0, line.indexOf(":")).toLowerCase();
  const named = lines
    .filter((line) => nameOf(line) === "connection")
    .flatMap((line) => namesIn(line.slice("connection:".length)));
  let passed = "";
  for (const line of lines) if (line !== "" && isPassedOn(nameOf(line), named)) passed += `${line}\r\n`;
  return passed;
}

/** What the sender says is for its neighbour only. */
function namesIn(connection: string | undefined): readonly string[] {
  return connection === undefined ? [] : wordsIn(connection);
}

function isPassedOn(name: string, named: readonly string[]): boolean {
  return !LOCAL.has(name) && !name.startsWith(MARK) && !(named.includes(name) && name !== "host");
}
