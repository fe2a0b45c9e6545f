/** Reading a resource beyond its limit, by writing its URI in another way or by the template that leads to it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { openSession } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const SERVER = fileURLToPath(new URL("./places-server.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "isthmus-spelled-limits-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const places = (id: string) => `[[servers]]
id = "${id}"
command = ${JSON.stringify(process.execPath)}
args = ["${SERVER}", "${join(folder, `${id}.jsonl`)}"]
`;
const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[limits]]
primitive = "files.file:///big.txt"
budget = 1
[[limits]]
server = "own"
primitive = "file:///big.txt"
budget = 1
[[limits]]
primitive = "web.https://{+rest}"
budget = 1
${["files", "own", "web"].map(places).join("")}`;
const tokens = { eve: ["--user", "eve"] };

const SPELLINGS = [
  "file:///big.txt",
  "file:///b%69g.txt",
  "file:///./big.txt",
  "file:///x/../big.txt",
  "file:////big.txt",
  "file:///big.txt#1",
  "file:///big.txt?x",
  "file:///BIG.TXT",
  "file:///big.txt%20",
];
const SPENT = "The budget of this";

describeAttacks("a resource whose limit is spent", { config, tokens }, (field) => {
  const ask = async (catalog: string, uri: string, method = "resources/read") => {
    const message = { id: 1, method, params: { uri } };
    return JSON.stringify((await field.rpc(message, { as: "eve", catalog })).messages);
  };

  test.each(["files", "own"])("(%s) is not read by another spelling of its URI", async (server) => {
    expect(await ask(server, "file:///big.txt")).toContain("what it holds");
    for (const uri of SPELLINGS) expect([uri, await ask(server, uri)]).toEqual([uri, expect.stringContaining(SPENT)]);
    expect(await ask(server, "file:///small.txt")).toContain("what it holds");
  });

  test("is not read or subscribed to through the list of everything, in a session or by a client of 2026", async () => {
    const headers = { ...field.as("eve"), ...(await openSession(`${field.origin(0)}/mcp`, {}, field.as("eve"))) };
    for (const uri of SPELLINGS) {
      for (const method of ["resources/read", "resources/subscribe"]) {
        const { messages } = await field.rpc({ id: 1, method, params: { uri } }, { headers, at: 0 });
        expect([uri, method, JSON.stringify(messages)]).toEqual([uri, method, expect.stringContaining(SPENT)]);
      }
      const { body, headers: named } = modern("resources/read", { uri });
      const { messages } = await field.rpc(JSON.parse(String(body)) as object, { as: "eve", headers: named ?? {} });
      expect([uri, JSON.stringify(messages)]).toEqual([uri, expect.stringContaining(SPENT)]);
    }
  });

  test("is not read by ever other URIs of one template", async () => {
    expect(await ask("web", "https://h.test/1")).toContain("what it holds");
    for (const uri of ["https://h.test/2", "https://other.test/", "https://h.test/1?a"])
      expect([uri, await ask("web", uri)]).toEqual([uri, expect.stringContaining(SPENT)]);
    expect(await ask("web", "file:///small.txt")).toContain("what it holds");
  });
});
