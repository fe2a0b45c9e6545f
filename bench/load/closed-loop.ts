/** The closed loop: every session sends its next request when its last answer has come and was right. */
import { ask, type McpSession } from "./mcp-session.ts";

export type LoadResult = { calls: number; seconds: number; p50Ms: number; p99Ms: number };
export type LoopOptions = { forMs: number; maxCalls: number };

/** `{"text":"…"}` is 300 bytes. */
const TEXT_BYTES = 300 - '{"text":""}'.length;
const FILLER = "isthmus ".repeat(TEXT_BYTES);
let lastId = 1_000_000; // Seven digits throughout, so that equal answers have equal lengths.

type Exchange = { body: string; check: (text: string) => void };
type CallAnswer = { id?: number; result?: { content?: { text?: string }[] } };

/** A tools/call whose text no other call has. */
export function makeCall(name: string): Exchange {
  const id = ++lastId;
  const expected = `call ${id} ${FILLER}`.slice(0, TEXT_BYTES);
  return {
    body: `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":{"text":"${expected}"}}}`,
    check(text) {
      const answer = JSON.parse(text) as CallAnswer;
      if (answer.id !== id || answer.result?.content?.[0]?.text !== expected) {
        throw new Error(`a wrong answer to call ${id}: ${text.slice(0, 200)}`);
      }
    },
  };
}

/** Counts the tools of one list, then holds every later one to the same length. */
export async function makeListMaker(session: McpSession, toolCount: number): Promise<() => Exchange> {
  const text = await ask(session, `{"jsonrpc":"2.0","id":${++lastId},"method":"tools/list"}`);
  const found = (JSON.parse(text) as { result?: { tools?: unknown[] } }).result?.tools?.length;
  if (found !== toolCount) throw new Error(`tools/list holds ${found} tools instead of ${toolCount}`);
  return () => {
    const id = ++lastId;
    return {
      body: `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`,
      check(answer) {
        const hasId = answer.slice(0, 60).includes(`"id":${id}`) || answer.slice(-60).includes(`"id":${id}`);
        if (answer.length !== text.length || !hasId) throw new Error(`a wrong answer to list ${id}`);
      },
    };
  };
}

export async function runClosedLoop(
  sessions: readonly McpSession[],
  make: () => Exchange,
  options: LoopOptions,
): Promise<LoadResult> {
  const latencies: number[] = [];
  const start = performance.now();
  const deadline = start + options.forMs;
  const loops = sessions.map(
    (session) =>
      new Promise<void>((resolve, reject) => {
        const next = (): void => {
          const sentAt = performance.now();
          if (sentAt >= deadline || latencies.length >= options.maxCalls) {
            resolve();
            return;
          }
          const { body, check } = make();
          const onText = (text: string): void => {
            latencies.push(performance.now() - sentAt);
            try {
              check(text);
              next();
            } catch (error) {
              reject(error as Error);
            }
          };
          session.exchange(body, onText, reject);
        };
        next();
      }),
  );
  await Promise.all(loops);
  const seconds = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { calls: latencies.length, seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}
