/** The client's side of a test, over whatever transport. Texts hold one character per byte. */
import type { Inbox } from "./inbox.ts";

export interface Conversation {
  /** Everything that comes about one request, in order; over a pipe, everything that comes at all. */
  readonly inbox: Inbox<string>;
}

export interface Client {
  /** Sends a request and returns where what comes about it is found. */
  request(text: string): Conversation;
  /** Sends a notification or an answer. Resolves when it was taken. */
  tell(text: string): Promise<void>;
  /** What comes outside any request. */
  readonly outside: Inbox<string>;
  close(): Promise<void>;
}

/** Everything a server may ask: the gateway then opens a session of the client's own with each server. */
const ASKABLE = { elicitation: {}, sampling: {}, roots: { listChanged: true } };

export function initializeText(capabilities: object = ASKABLE, version = "2025-11-25"): string {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: "relay", version: "1" } };
  return JSON.stringify({ jsonrpc: "2.0", id: "open", method: "initialize", params });
}

export const INITIALIZED = '{"jsonrpc":"2.0","method":"notifications/initialized"}';

/** The gateway's own word, at a time of its own choosing: no test here waits for it. */
export function isListChange(text: string): boolean {
  return /^\{"jsonrpc":"2\.0","method":"notifications\/(tools|resources|prompts)\/list_changed"\}$/.test(text);
}
