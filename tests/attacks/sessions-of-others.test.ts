/** Taking over the session of another client on the same machine, where nobody is asked who they are. */
import { expect, test } from "vitest";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { askingServer } from "./kit/config-parts.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const config = askingServer("asking");

type Headers = Record<string, string>;
type Running = { readonly callId: string; readonly session: string };
type Shown = { readonly sessions: readonly { readonly id: string }[] };
const listed = async (field: Attacked, at: number) => (await field.api("GET", "/api/sessions", undefined, { at })).body;

/** Where others may have found what opens a session. */
const FINDS: readonly [string, (field: Attacked, at: number, run: Running) => Promise<string>][] = [
  ["the list of calls", async (_field, _at, { session }) => session],
  ["the list of sessions", async (field, at) => ((await listed(field, at)) as Shown).sessions.at(-1)?.id ?? ""],
  [
    "what is told of one call",
    async (field, at, { callId }) =>
      ((await field.api("GET", `/api/calls/${callId}`, undefined, { at })).body as Running).session,
  ],
  [
    "what is told of one session",
    async (field, at, { session }) =>
      ((await field.api("GET", `/api/sessions/${session}`, undefined, { at })).body as { id: string }).id,
  ],
];

/** A client whose call waits for its user. */
async function askedClient(field: Attacked, at: number) {
  const url = `${field.origin(at)}/mcp`;
  const session = await openSession(url, { elicitation: {} });
  const answer = post(url, toolCall(7, "asking.ask", {}), session);
  const found = async () => {
    const { running } = (await field.api("GET", "/api/calls", undefined, { at })).body as { running: Running[] };
    return running.at(-1);
  };
  await expect.poll(found, { timeout: 10_000 }).toBeDefined();
  return { url, session, answer, run: (await found()) as Running };
}

async function end(url: string, session: Headers): Promise<number> {
  return (await fetch(url, { method: "DELETE", headers: session })).status;
}

/** Every operation of the API that only looks and needs no name. */
async function looked(field: Attacked, at: number): Promise<string> {
  const { paths } = JSON.parse((await field.api("GET", "/openapi.json", undefined, { at })).text);
  const plain = Object.keys(paths).filter((path) => "get" in paths[path] && !path.includes("{"));
  expect(plain).toEqual(expect.arrayContaining(["/api/sessions", "/api/calls"]));
  const texts = plain.map(async (path) => {
    const leaving = new AbortController();
    const response = await fetch(`${field.origin(at)}${path}`, { signal: leaving.signal });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    if (!isStream) return await response.text();
    leaving.abort();
    return "";
  });
  return (await Promise.all(texts)).join("\n");
}

describeAttacks("a client on the gateway's machine", { config }, (field) => {
  test.each(FINDS)("takes over no session of another by %s", async (_name, find) => {
    const { url, session, answer, run } = await askedClient(field, 0);
    const found = await find(field, 0, run);
    expect(found).not.toBe("");
    const stolen = { "mcp-session-id": found, "mcp-protocol-version": "2025-11-25" };
    const reading = { ...stolen, accept: "text/event-stream", "last-event-id": `${run.callId}.-1` };
    for (let at = 0; at < field.processes; at++) {
      const theirs = `${field.origin(at)}/mcp`;
      expect((await fetch(theirs, { headers: reading })).status).toBe(404);
      const word = { id: 1, result: { action: "accept", content: { name: "Eve" } } };
      expect((await post(theirs, word, stolen)).status).toBe(404);
      expect((await post(theirs, { method: "notifications/cancelled", params: { requestId: 7 } }, stolen)).status).toBe(
        404,
      );
      expect(await end(theirs, stolen)).toBe(404);
    }
    expect((await post(url, { id: 8, method: "ping" }, session)).status).toBe(200);
    expect(await end(url, session)).toBeLessThan(300);
    await answer;
  });

  test("finds the id of no other's session in anything that the API shows", async () => {
    const { url, session, answer } = await askedClient(field, 0);
    const texts = await looked(field, 0);
    expect(texts).toContain("asking/ask");
    expect(texts).not.toContain(session["mcp-session-id"]);
    await end(url, session);
    await answer;
    expect(await looked(field, 0)).not.toContain(session["mcp-session-id"]);
  });
});
