/** Whole HTTP requests as cases; `{session}` stands for the id of a session. */
import { callText, type SmugglingCase } from "./case.ts";

export const BODY = callText().replaceAll("@", "files.");

export type RequestParts = {
  readonly line?: string;
  readonly host?: string;
  readonly type?: string;
  readonly session?: string;
  readonly more?: string;
  readonly length?: string;
  readonly body?: string;
};

function requestText(parts: RequestParts = {}): string {
  const { body = BODY, line = "POST /mcp HTTP/1.1", session = "Mcp-Session-Id: {session}\r\n" } = parts;
  const { host = "Host: 127.0.0.1\r\n", type = "Content-Type: application/json\r\n", more = "" } = parts;
  const length = parts.length ?? `Content-Length: ${body.length}\r\n`;
  const accept = "Accept: application/json, text/event-stream\r\nConnection: close\r\n";
  return `${line}\r\n${host}${accept}${type}${session}${more}${length}\r\n${body}`;
}

export function chunked(...chunks: string[]): Pick<RequestParts, "body" | "length"> {
  const body = [...chunks, ""].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");
  return { body, length: "Transfer-Encoding: chunked\r\n" };
}

export function refusedWith(status: number, cases: Readonly<Record<string, RequestParts>>): SmugglingCase[] {
  return Object.entries(cases).map(([name, parts]) => ({ name, bytes: requestText(parts), expect: "refused", status }));
}

export function executed(cases: Readonly<Record<string, RequestParts>>): SmugglingCase[] {
  return Object.entries(cases).map(([name, parts]) => ({ name, bytes: requestText(parts), expect: "same" }));
}
