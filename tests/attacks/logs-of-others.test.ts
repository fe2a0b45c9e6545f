/** Hearing what a server says about somebody else's call, behind it, while one's own call is the only one that runs. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";
import { type Field, startOne } from "./kit/field.ts";

const LATE = fileURLToPath(new URL("./kit/late-server.mjs", import.meta.url));
const JSON_BODY = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const MODES = ["auto", "shared", "per-client"];
/** Where ann calls, and where bob does: one of the pairs is beside the home of the server. */
const PAIRS = [
  [0, 1],
  [1, 2],
  [2, 0],
  [1, 1],
  [2, 2],
] as const;

/** How ann gives a server something to work on. */
const WORKS: Readonly<Record<string, (server: string) => object>> = {
  tool: (server) => toolCall(2, `${server}.work`, { words: "ANNS SECRET" }),
  prompt: (server) => ({
    id: 2,
    method: "prompts/get",
    params: { name: `${server}.work`, arguments: { words: "ANNS SECRET" } },
  }),
  // With several of these servers the first has the URI as it is.
  resource: (server) => ({ id: 2, method: "resources/read", params: { uri: `${server}+late:///work` } }),
};

const nameOf = (work: string, [annAt, bobAt]: readonly [number, number]) => `${work}${annAt}${bobAt}`;
/** What it has been told before counts, so each attack has one that nobody else has called. */
const servers = ["first", ...Object.keys(WORKS).flatMap((work) => PAIRS.map((pair) => nameOf(work, pair))), ...MODES];
const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
${servers.map((id) => `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(LATE)}]`).join("\n")}
`;
const people = { ann: ["--user", "ann", "--tenant", "acme"], bob: ["--user", "bob", "--tenant", "globex"] };

type Heard = { text: string; readonly stop: () => void };
type Client = { readonly send: (message: object) => ReturnType<typeof post>; readonly heard: Heard };

/** A client of 2025 that listens. */
async function listen(url: string, as: Record<string, string>): Promise<Client> {
  const headers = { ...(await openSession(url, {}, as)), ...as };
  await post(url, { id: 90, method: "logging/setLevel", params: { level: "debug" } }, headers);
  const leaving = new AbortController();
  const heard: Heard = { text: "", stop: () => leaving.abort() };
  const stream = await fetch(url, { headers: { ...headers, accept: "text/event-stream" }, signal: leaving.signal });
  const read = async () => {
    for await (const part of stream.body ?? []) heard.text += new TextDecoder().decode(part);
  };
  read().catch(() => undefined);
  return { heard, send: (message) => post(url, message, headers) };
}

/** What a client of 2026-07-28 hears while it waits. */
async function waitModern(url: string, server: string, as: Record<string, string>): Promise<string> {
  const params = { name: `${server}.wait`, arguments: {} };
  const { body, headers } = modern("tools/call", params, { logLevel: "debug" });
  const all = { ...JSON_BODY, ...(headers as Record<string, string>), ...as };
  return (await fetch(url, { method: "POST", body: body as string, headers: all })).text();
}

async function bobHears(field: Attacked, work: string, pair: readonly [number, number], isModern: boolean) {
  const [annAt, bobAt] = pair.map((at) => at % field.processes) as [number, number];
  const server = nameOf(work, pair);
  const [annUrl, bobUrl] = [`${field.origin(annAt)}/mcp`, `${field.origin(bobAt)}/mcp`];
  const [ann, bob] = [await listen(annUrl, field.as("ann")), await listen(bobUrl, field.as("bob"))];
  const waits = isModern
    ? waitModern(bobUrl, server, field.as("bob"))
    : bob.send(toolCall(1, `${server}.wait`, {})).then(({ messages }) => JSON.stringify(messages));
  const given = await ann.send(WORKS[work]?.(server) ?? {});
  expect(JSON.stringify(given.messages)).toContain("begun");
  const waited = await waits;
  expect(waited).toContain("waited");
  for (const { heard } of [ann, bob]) heard.stop();
  return `${waited}${bob.heard.text}`;
}

describeAttacks("what a server logs behind a call", { config, tokens: people }, (field) => {
  const ways = Object.keys(WORKS).flatMap((work, at) =>
    PAIRS.map((pair, place) => [work, ...pair, (at + place) % 2 === 0] as const),
  );
  test.each(ways)("of a %s at process %i reaches nobody else at process %i (2026-07-28: %s)", async (...way) => {
    const [work, annAt, bobAt, isModern] = way;
    expect(await bobHears(field, work, [annAt, bobAt], isModern)).not.toContain("LATER");
  });
});

describeAttacks(
  "what a server logs behind a call through another gateway",
  { config, tokens: { gwa: ["--user", "gwa"] } },
  (field) => {
    let before: Field | undefined;
    beforeAll(async () => {
      const tables = MODES.map(
        (mode) => `[[servers]]
id = "${mode}"
url = "${field.origin(0)}/${mode}/mcp"
sessions = "${mode}"
headers = { Authorization = "Bearer ${field.token("gwa")}" }`,
      );
      const outer = `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n${tables.join("\n")}`;
      before = await startOne({ config: outer, tokens: people });
    });
    afterAll(() => before?.[Symbol.asyncDispose]());

    test.each(MODES)("reaches nobody else of that gateway, with sessions = %s", async (mode) => {
      const url = `${before?.origins[0]}/mcp`;
      const as = (user: string) => ({ authorization: `Bearer ${before?.tokens[user]}` });
      const [ann, bob] = [await listen(url, as("ann")), await listen(url, as("bob"))];
      const waits = bob.send(toolCall(1, `${mode}.wait`, {}));
      await ann.send(toolCall(2, `${mode}.work`, { words: "ANNS SECRET" }));
      const { messages } = await waits;
      expect(JSON.stringify(messages)).toContain("waited");
      for (const { heard } of [ann, bob]) heard.stop();
      expect(`${JSON.stringify(messages)}${bob.heard.text}`).not.toContain("LATER");
    });
  },
);
