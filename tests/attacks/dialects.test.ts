/** What clients without a session declare of MGP and MCP-AX and say in their words, towards servers of each kind. */
import { afterAll, describe, expect, test } from "vitest";
import { type HttpFixture, startHttpFixture } from "../../src/providers/mcp/fixtures/http-server.ts";
import { startModern } from "../../src/providers/mcp/fixtures/modern-http.ts";
import { META, modernBody } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

// Their addresses stand in the config, which is made before any hook runs.
const places = new Places();
afterAll(() => places.remove());
const before = await startHttpFixture({}, "the-session");
afterAll(() => before.stop());
const now = await startModern();
afterAll(() => now.stop());

const seenBy = (server: HttpFixture) => () => JSON.stringify(server.seen.map(({ rpc, headers }) => [rpc, headers]));
const SERVERS: readonly [what: string, id: string, tool: string, seen: () => string][] = [
  ["on stdio", "places", "read", () => places.seen],
  ["of 2025 over HTTP", "before", "echo", seenBy(before)],
  ["of 2026-07-28", "now", "echo", seenBy(now)],
];
const table = (id: string, { url }: HttpFixture) => `[[servers]]\nid = "${id}"\nurl = "${url}"\n`;
const config = places.table + table("before", before) + table("now", now);

const MGP = `{"version":"0.3.0","extensions":["access_control"]}`;
/** Members of the capabilities, as they are written. */
const DECLARED: readonly [how: string, members: string][] = [
  ["under mgp", `"mgp":${MGP}`],
  ["as experiments", `"experimental":{"mgp":${MGP},"mcpax":{"role":"aggregator"}}`],
  ["as an extension", `"extensions":{"dev.cloto/mgp":${MGP},"dev.cloto/mcpax":{}}`],
  ["in escapes", `"m\\u0067p":${MGP},"\\u0065xperimental":{"mcp\\u0061x":{}},"extensions":{"dev.cloto\\/mgp":${MGP}}`],
  ["in capitals", `"MGP":${MGP},"experimental":{"McpAx":{}}`],
  [
    "where only readers that do not mind case look",
    `"Experimental":{"mgp":${MGP}},"EXTENSIONS":{"dev.cloto/mgp":${MGP}}`,
  ],
  [
    "for readers that trim or cut",
    `"Mgp ":${MGP},"mgp/access":{},"extensions":{"dev.cloto/mgp/access":{},"io.mcpax/x":{}}`,
  ],
];
/** What escapes in a method become when they are written as JSON. */
const written = (body: string) => body.replaceAll("\\\\u", "\\u");
/** The member of `_meta` that has the capabilities, as it is written. */
const KEYS: readonly [how: string, key: string][] = [
  ["as it is", `${META}clientCapabilities`],
  ["in escapes", "io.modelcontextprotocol\\/client\\u0043apabilities"],
];
const METHODS = [
  "mgp/tools/discover",
  "mgp/access/list",
  "MGP/access/grant",
  "m\\u0067p/health/ping",
  "mcpax/register",
  "McpAx",
  "mgp",
];

describeAttacks("a client without a session that speaks a dialect", { config }, (field) => {
  let sent = 0;
  /** What a server has got of it since `from`, with what stands around. */
  const dialectIn = (seen: string, from: number) => seen.slice(from).match(/.{0,60}(?:mgp|mcpax).{0,20}/gi) ?? [];
  /** `change`: of the message as it is written. */
  async function send(id: string, method: string, params: object, change: (body: string) => string): Promise<string> {
    const answer = await fetch(`${field.origin()}/${id}/mcp`, {
      method: "POST",
      body: change(modernBody(method, { ...params })),
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": JSON.parse(`"${method}"`),
        ...("name" in params && { "mcp-name": String(params.name) }),
      },
    });
    return await answer.text();
  }

  describe.each(SERVERS)("tells no server %s", (_what, id, tool, seen) => {
    test.each(
      DECLARED.flatMap(([how, members]) => KEYS.map(([spelled, key]) => [how, spelled, members, key] as const)),
    )("of it, declared %s, in a member of _meta that is written %s", async (_how, _spelled, members, key) => {
      const from = seen().length;
      // What else it declares is told, and shows when that has come.
      const mark = `mark-${field.processes}-${sent++}`;
      const capabilities = `"${key}":{${members},"sampling":{"${mark}":{}}}`;
      const text = await send(id, "tools/call", { name: tool, arguments: {} }, (body) =>
        body.replace(`"${META}clientCapabilities":{}`, () => capabilities),
      );
      expect(text).toContain('"result"');
      await expect.poll(() => seen().includes(mark)).toBe(true);
      expect(dialectIn(seen(), from)).toEqual([]);
    });

    test.each(METHODS)("what it says as %s", async (method) => {
      const from = seen().length;
      expect(await send(id, method, {}, written)).toContain("-32601");
      // Without an id, and as a notification: neither is answered.
      const withoutId = (body: string) => written(body).replace('"id":1,', "");
      expect(await send(id, method, {}, withoutId)).toBe("");
      expect(await send(id, `notifications/${method.replace("/", ".")}`, {}, withoutId)).toBe("");
      const mark = `x/own-${field.processes}-${sent++}`;
      await send(id, mark, {}, written);
      await expect.poll(() => seen().includes(mark)).toBe(true);
      expect(dialectIn(seen(), from)).toEqual([]);
    });
  });
});
