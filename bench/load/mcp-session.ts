/** One MCP client on raw sockets, in the ways the candidates speak HTTP. */
import { ModernSession } from "./modern-session.ts";
import { SseSession } from "./sse-session.ts";
import { StreamableSession } from "./streamable-session.ts";

export type Endpoint = { url: string; protocol: "streamable" | "sse" | "modern" };

export interface McpSession {
  /** initialize and notifications/initialized, where there is such a thing. */
  open(): Promise<void>;
  /** Sends one request and hands over the JSON text of its answer. Exactly one of the two callbacks runs. */
  exchange(body: string, onText: (text: string) => void, onError: (error: Error) => void): void;
  /** Takes a new connection, so that a server's idle timeout between rounds cannot hit a call. */
  renew(): void;
  close(): void;
}

export function createSession(endpoint: Endpoint): McpSession {
  switch (endpoint.protocol) {
    case "streamable":
      return new StreamableSession(endpoint.url);
    case "sse":
      return new SseSession(endpoint.url);
    case "modern":
      return new ModernSession(endpoint.url);
  }
}

export function ask(session: McpSession, body: string): Promise<string> {
  return new Promise((resolve, reject) => session.exchange(body, resolve, reject));
}

type ListedTools = { result?: { tools?: { name: string }[]; nextCursor?: string }; error?: { message: string } };

/** Every tool name the session can see, in one answer or in pages. */
export async function listToolNames(session: McpSession): Promise<string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? "" : `,"params":{"cursor":${JSON.stringify(cursor)}}`;
    const answer: ListedTools = JSON.parse(
      await ask(session, `{"jsonrpc":"2.0","id":2,"method":"tools/list"${params}}`),
    );
    if (answer.result?.tools === undefined)
      throw new Error(`tools/list failed: ${answer.error?.message ?? "no tools"}`);
    names.push(...answer.result.tools.map((tool) => tool.name));
    cursor = answer.result.nextCursor;
  } while (cursor !== undefined);
  return names;
}
