/**
 * The load generator, a process of its own on the core the candidate does not have. Does what the runner asks over IPC
 * and ends when the runner does. All load goes to 127.0.0.1 and is bounded in calls and in time.
 */
import { makeCall, makeListMaker, runClosedLoop } from "./load/closed-loop.ts";
import type { LoadJob, LoadReply } from "./load/load-process.ts";
import { createSession, listToolNames, type McpSession } from "./load/mcp-session.ts";
import { openIdleSessions, releaseStreams } from "./load/session-growth.ts";

type Group = { sessions: McpSession[]; toolNames: string[]; maker?: ReturnType<typeof spreadCalls> };
const groups = new Map<string, Group>();
const OPENING_AT_ONCE = 8;

function spreadCalls(names: readonly string[]): () => ReturnType<typeof makeCall> {
  let turn = 0;
  return () => makeCall(names[turn++ % names.length] ?? "echo");
}

async function openGroup(job: Extract<LoadJob, { do: "open" }>): Promise<{ toolCount: number }> {
  const sessions = Array.from({ length: job.sessions }, () => createSession(job.endpoint));
  for (let index = 0; index < sessions.length; index += OPENING_AT_ONCE) {
    await Promise.all(sessions.slice(index, index + OPENING_AT_ONCE).map((session) => session.open()));
  }
  const [first] = sessions;
  const toolNames = first === undefined ? [] : await listToolNames(first);
  groups.set(job.key, { sessions, toolNames });
  return { toolCount: toolNames.length };
}

function groupOf(key: string): Group {
  const group = groups.get(key);
  if (group === undefined) throw new Error(`no sessions open for ${key}`);
  return group;
}

/** New connections and some unmeasured calls. */
async function warmUp(job: Extract<LoadJob, { do: "warm" }>): Promise<object> {
  const group = groupOf(job.key);
  for (const session of group.sessions) session.renew();
  const [first] = group.sessions;
  if (job.load === "list" && first !== undefined) group.maker ??= await makeListMaker(first, group.toolNames.length);
  // Peers rename tools; the echo tool is the one that still ends with its name.
  const echoNames = group.toolNames.filter((name) => name.endsWith("echo")).slice(0, 1);
  group.maker ??= spreadCalls(job.load === "spread" ? group.toolNames : echoNames);
  await runClosedLoop(group.sessions, group.maker, job);
  return {};
}

async function perform(job: LoadJob): Promise<object> {
  switch (job.do) {
    case "open":
      return openGroup(job);
    case "warm":
      return warmUp(job);
    case "run": {
      const group = groupOf(job.key);
      if (group.maker === undefined) throw new Error(`${job.key} was not warmed up`);
      return runClosedLoop(group.sessions, group.maker, job);
    }
    case "close":
      for (const session of groups.get(job.key)?.sessions ?? []) session.close();
      groups.delete(job.key);
      return {};
    case "grow":
      await openIdleSessions(job.url, job.count, job.hasStream);
      return {};
    case "shrink":
      releaseStreams();
      return {};
  }
}

process.on("message", (job: LoadJob) => {
  perform(job).then(
    (value) => process.send?.({ value } satisfies LoadReply),
    (error: Error) => process.send?.({ error: error.message } satisfies LoadReply),
  );
});
process.on("disconnect", () => process.exit(0));
