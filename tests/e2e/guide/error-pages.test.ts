/** The pages of error codes show what clients and logs really have. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { VERSION } from "../../../src/server/version.ts";
import { eventually } from "../../kit/eventually.ts";
import { helloServer, type RunningGateway, startGateway } from "../kit/gateway.ts";
import { readBlocks } from "../kit/markdown.ts";
import { post, type RpcMessage } from "../kit/rpc.ts";

const META = "io.modelcontextprotocol/";
const ENVELOPE = { [`${META}protocolVersion`]: "2026-07-28", [`${META}clientCapabilities`]: {} };

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ config: helloServer("hello", 'timeout = "100ms"') });
});
afterAll(() => gateway.stop());

/** Every JSON block of the page of a code. */
function shownOf(code: string): unknown[] {
  const blocks = readBlocks(`docs/reference/errors/${code}.md`).filter(({ language }) => language === "json");
  return blocks.map(({ text }) => JSON.parse(text));
}

async function call(era: "2025" | "2026", name: string, args: object): Promise<RpcMessage> {
  const isModern = era === "2026";
  const params = { name, arguments: args, ...(isModern && { _meta: ENVELOPE }) };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": name };
  const message = { id: 1, method: "tools/call", params };
  const { messages } = await post(gateway.url, message, isModern ? headers : {});
  return messages.at(-1) ?? {};
}

/** Ids and times differ from call to call; that they are texts and numbers is told. */
function withoutChance(value: unknown): unknown {
  const chance = new Set(["callId", "time", "durationMs", "target"]);
  return JSON.parse(JSON.stringify(value), (key, inner) => (chance.has(key) ? typeof inner : inner));
}

test("DEADLINE_PASSED in the 2025 era, and in the log", async () => {
  const [shownAnswer, , shownLine] = shownOf("DEADLINE_PASSED");
  const { result } = await call("2025", "hello.count", { to: 1_000 });
  expect(withoutChance({ result })).toEqual(withoutChance(shownAnswer));
  const lines = () => gateway.program.stderr.split("\n").filter((line) => line.includes('"call finished"'));
  const [line = "{}"] = await eventually(lines, (found) => found.length > 0);
  expect(withoutChance(JSON.parse(line))).toEqual(withoutChance(shownLine));
});

test("DEADLINE_PASSED in the 2026 era, with what the page says it adds", async () => {
  const [shown] = shownOf("DEADLINE_PASSED") as [{ result: { _meta: object } }];
  const answer = await call("2026", "hello.count", { to: 1_000 });
  const added = { [`${META}serverInfo`]: { name: "isthmus", version: VERSION } };
  const result = { ...shown.result, resultType: "complete", _meta: { ...shown.result._meta, ...added } };
  expect(withoutChance(answer.result)).toEqual(withoutChance(result));
});

test.each([
  ["2025", -32601],
  ["2026", -32602],
] as const)("NO_SUCH_TARGET in the %s era has the number %i", async (era, code) => {
  const [shown] = shownOf("NO_SUCH_TARGET") as [{ error: object }];
  const { error } = await call(era, "files.raed_file", {});
  expect(error).toEqual({ ...shown.error, code });
});
