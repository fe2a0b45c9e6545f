/** Texts of a server that were made to cost others time: each of these kept everybody waiting for many seconds, some for minutes. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./kit/long-texts-server.mjs", import.meta.url));
const server = (id: string, texts: object) =>
  `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([SERVER, JSON.stringify({ id, ...texts })])}\n`;

const SPELLINGS: [string, string, object][] = [
  ["a hundred templates of very many expressions", "evil", { resources: 10_000, templates: 100, expressions: 40_000 }],
  ["thousands of templates", "many", { templates: 5_200, expressions: 780 }],
  ["as many templates, each as long, as are listed", "most", { resources: 10_000, templates: 500, expressions: 31 }],
  ["updates of many slashes", "slashes", { slashes: 16_300 }],
];
const catalogs = SPELLINGS.map(([, id]) => `[[catalogs]]\nid = "with-${id}"\ninclude = ["${id}.*", "hello.*"]\n`);
const config = `${SPELLINGS.map(([, id, texts]) => server(id, texts)).join("")}${helloServer()}${catalogs.join("")}`;

describeAttacks("a server's texts", { config }, (field) => {
  test.each(SPELLINGS)("with %s keep nobody from listing, reading and calling elsewhere", async (_, id) => {
    const url = `${field.origin(0)}/with-${id}/mcp`;
    const headers = await openSession(url);
    const ask = async (message: object) => (await post(url, message, headers)).messages.at(-1);
    const go = async () => JSON.stringify((await ask(toolCall(1, `${id}.go`, {})))?.result ?? {});
    await expect.poll(go, { timeout: 30_000 }).toContain("gone");
    expect((await ask({ id: 2, method: "resources/list" }))?.result).toBeDefined();
    const reads = Array.from({ length: 64 }, (_unused, at) =>
      ask({ id: 100 + at, method: "resources/read", params: { uri: `file:///nobody/lists/${at}` } }),
    );
    // Nobody has these; that nobody has is found out soon.
    expect((await Promise.all(reads)).map((answer) => answer?.id)).toEqual(reads.map((_unused, at) => 100 + at));
    const greeting = await ask(toolCall(3, "hello.greet", { name: "Ada" }));
    expect(JSON.stringify(greeting?.result)).toContain("Hello, Ada!");
  });
});
