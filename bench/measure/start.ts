/** From spawn to the first complete list. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Candidate, type Running, retryUntil } from "../candidates/candidate.ts";
import { createSession, type Endpoint, listToolNames } from "../load/mcp-session.ts";
import type { Upstream } from "../upstream/start-upstream.ts";

const START_LIMIT_MS = 20_000;
const ATTEMPT_LIMIT_MS = 8_000;
const ATTEMPT_EVERY_MS = 3;

/** Resolves once a new session lists every tool of the upstream; an empty list of a starting gateway does not count. */
export async function waitUntilListed(endpoint: Endpoint, toolCount: number): Promise<void> {
  const attempt = async (): Promise<void> => {
    const session = createSession(endpoint);
    const limit = new AbortController();
    const tooLate = sleep(ATTEMPT_LIMIT_MS, undefined, { signal: limit.signal }).then(() => {
      throw new Error("no answer in time");
    });
    const listed = session.open().then(() => listToolNames(session));
    try {
      const names = await Promise.race([listed, tooLate]);
      if (names.length < toolCount) throw new Error(`${names.length} of ${toolCount} tools listed`);
    } finally {
      limit.abort();
      tooLate.catch(() => {});
      listed.catch(() => {});
      session.close();
    }
  };
  await retryUntil(attempt, START_LIMIT_MS, ATTEMPT_EVERY_MS);
}

/** Starts a candidate and waits until it serves; ends it when it does not. */
export async function startReady(candidate: Candidate, upstream: Upstream): Promise<Running> {
  const running = await candidate.start(upstream);
  try {
    await waitUntilListed(running, upstream.toolCount);
    return running;
  } catch (error) {
    await running.stop();
    throw error;
  }
}

export async function measureStartMs(candidate: Candidate, upstream: Upstream): Promise<number> {
  const startedAt = performance.now();
  const running = await startReady(candidate, upstream);
  const elapsed = performance.now() - startedAt;
  await running.stop();
  return elapsed;
}
