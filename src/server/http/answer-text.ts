/** The texts that answers begin with. */

// A table of our own: loading `node:http` for its names would be felt at every start.
const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  422: "Unprocessable Content",
  428: "Precondition Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

const OK = "HTTP/1.1 200 OK\r\n";

/** A status without a phrase of its own is legal: the phrase may be empty. */
export function statusLine(status: number): string {
  return status === 200 ? OK : `HTTP/1.1 ${status} ${REASONS[status] ?? ""}\r\n`;
}

export function dateLine(): string {
  return `Date: ${new Date().toUTCString()}\r\n`;
}

export const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
export const CLOSE = "Connection: close\r\n";
export const KEEP_ALIVE = "Connection: keep-alive\r\n";
export const CHUNKED = "Transfer-Encoding: chunked\r\n";
export const LAST_CHUNK = "0\r\n\r\n";

export function chunkOf(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** What is answered where nobody else does. `message` is ours and plain ASCII; `lines`: further header lines. */
export function faultText(status: number, message: string, lines = ""): string {
  const body = JSON.stringify({ error: message });
  const length = `Content-Length: ${body.length}\r\n\r\n`;
  return `${statusLine(status)}${dateLine()}${CLOSE}${lines}Content-Type: application/json\r\n${length}${body}`;
}
