/** The messages every session starts with. */
export const PROTOCOL_VERSION = "2025-11-25";
export const INITIALIZE = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"${PROTOCOL_VERSION}","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}`;
export const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** The head of a POST; `extra` is whole header lines. */
export function postHead(url: URL, extra: string): string {
  return (
    `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: application/json\r\n` +
    `Accept: application/json, text/event-stream\r\n${extra}Content-Length: `
  );
}

/** Throws what the server said when an `initialize` answer is not a result. */
export function checkInitialized(text: string): void {
  const answer = JSON.parse(text) as { id?: unknown; result?: { protocolVersion?: string } };
  if (answer.id !== 1 || answer.result?.protocolVersion === undefined)
    throw new Error(`initialize failed: ${text.slice(0, 200)}`);
}
