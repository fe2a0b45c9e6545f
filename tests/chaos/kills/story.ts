/** What a client does at the gateway that is to die, and what it may then expect of the others. */
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "vitest";
import { post, type RpcMessage, type RpcResponse } from "../../e2e/kit/rpc.ts";
import type { Gateway, Stores, World } from "./world.ts";

export type Session = Record<string, string>;

export type Story = {
  /** At a gateway that is killed when this is over; only some stories need one. */
  before?(url: string): Promise<void>;
  /** At the gateway that dies. It may break off anywhere: only what was told before is noted. */
  run(doomed: Gateway): Promise<void>;
  /** At a gateway that lives: all that was told holds. */
  check(url: string): Promise<void>;
};

export type Setting = { readonly world: World; readonly stores: Stores; readonly point: string };
export type Scenario = (setting: Setting) => Story;

const PATIENCE_MS = 12_000;
const VERSION = "2025-11-25";
const NOT_NOW = ["STATE_UNAVAILABLE", "NOT_READY", "PROVIDER_UNREACHABLE"];

export const newMark = () => randomUUID();

/** Opens a session. `tell` hears of it the moment the client does. */
export async function open(url: string, tell: (session: Session) => void = () => undefined): Promise<Session> {
  const params = { protocolVersion: VERSION, capabilities: {}, clientInfo: { name: "kills", version: "1" } };
  const { status, headers } = await post(url, { id: 0, method: "initialize", params });
  expect(status).toBe(200);
  const session = { "mcp-session-id": headers.get("mcp-session-id") ?? "", "mcp-protocol-version": VERSION };
  tell(session);
  await post(url, { method: "notifications/initialized" }, session);
  return session;
}

/** As `post`, and again while the gateway says that it cannot answer yet. */
export async function ask(url: string, message: object, headers: Session): Promise<RpcResponse> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const got = await post(url, message, headers);
    const isLater = got.status === 503 || NOT_NOW.includes(codeOf(got.messages.at(-1)) ?? "");
    if (!isLater || performance.now() > until) return got;
    await wait(100);
  }
}

export function codeOf(message: RpcMessage | undefined): string | undefined {
  const meta = message?.result?._meta as Record<string, { code?: string } | undefined> | undefined;
  return meta?.["dev.isthmus/error"]?.code ?? (message?.error?.data as { code?: string } | undefined)?.code;
}

export const callOf = (name: string, args: object, more: object = {}) => ({
  id: 1,
  method: "tools/call",
  params: { name, arguments: args, ...more },
});

export function textOf(message: RpcMessage | undefined): string {
  const content = message?.result?.content as { text?: string }[] | undefined;
  return content?.[0]?.text ?? `no text in ${JSON.stringify(message)}`;
}

/** A session that was told of answers; where none was, a new one does. */
export async function expectAlive(url: string, session: Session | undefined): Promise<void> {
  const headers = session ?? (await open(url));
  const { status, messages } = await ask(url, { id: 9, method: "tools/list" }, headers);
  expect(status, JSON.stringify(messages)).toBe(200);
  expect(messages.at(-1)?.result?.tools).not.toEqual([]);
}

/** The connection broke because the process died: all other failures are the test's. */
export function isCut(error: unknown): boolean {
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  return name === "TypeError" || code?.startsWith("ECONN") === true || message?.includes("it did not come") === true;
}

/** Does it again and again, until the process dies. */
export async function untilDead({ child }: Gateway, step: () => Promise<unknown>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (child.exitCode === null && child.signalCode === null && performance.now() < end) await step();
}

/** Asks until it is so. */
export async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error("it did not become so in time");
    await wait(50);
  }
}
