/** What `isthmus up` shows a person: where it listens, what is behind it, what to do next. */
import type { ServerSummary } from "../server/gateway.ts";

export type Summary = {
  readonly url: string;
  readonly servers: readonly ServerSummary[];
  /** Where a config was looked for, when none was found and the demo runs. */
  readonly looked?: readonly string[];
};

export function summaryText({ url, servers, looked }: Summary): string {
  const idWidth = Math.max(0, ...servers.map(({ id }) => plain(id).length));
  const lines = servers.map(({ id, status, tools, message }) => {
    const detail = status === "ok" ? `${tools} ${tools === 1 ? "tool" : "tools"}` : plain(message ?? "");
    return `  ${plain(id).padEnd(idWidth)}  ${status.padEnd(13)} ${detail}`.trimEnd();
  });
  return [
    ...(looked
      ? ["No config was found, so the built-in demo runs. Looked for:", ...looked.map((file) => `  ${file}`), ""]
      : []),
    `Isthmus listens on ${url}`,
    "",
    ...(lines.length > 0 ? lines : ["  no servers are configured"]),
    "",
    `Point an MCP client at ${url} (Streamable HTTP).`,
    ...(looked ? ["Try a call:", `  ${demoCall(url)}`] : []),
    "Stop with Ctrl-C.",
    "",
  ].join("\n");
}

function demoCall(url: string): string {
  const body =
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo.greet","arguments":{"name":"Ada"}}}';
  const headers = "-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'";
  return `curl -s ${url} ${headers} -d '${body}'`;
}

// Messages may hold a server's own words: they must not steer the terminal.
function plain(text: string): string {
  return text.replace(/\p{C}+/gu, " ");
}
