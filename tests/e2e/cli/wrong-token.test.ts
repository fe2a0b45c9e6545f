import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientVerbs } from "./client-verbs.ts";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

/** What verbs need, by how their words begin; any token will do for the others. */
const ROLES: Readonly<Record<string, string>> = {
  grant: "admin",
  revoke: "admin",
  token: "admin",
  "audit export": "admin",
  "audit verify": "operator",
  "sessions end": "operator",
  approvals: "operator",
  approve: "operator",
  deny: "operator",
  logs: "operator",
  audit: "viewer",
  "sessions list": "viewer",
  trace: "viewer",
  explain: "viewer",
};

function roleWord(words: readonly string[]): string {
  const [, role] = Object.entries(ROLES).find(([name]) => `${words.join(" ")} `.startsWith(`${name} `)) ?? [];
  return role === undefined ? "" : ` --role ${role}`;
}

describe("a gateway that asks for tokens", () => {
  let workspace: Workspace;
  let origin = "";
  const tokens = { caller: "", viewer: "" };

  beforeAll(async () => {
    workspace = new Workspace();
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    const config = `[gateway]\nlisten = "127.0.0.1:${port}"\n[auth]\ntokens = true\n[audit]\n`;
    workspace.write("isthmus.toml", config + scriptServer("hello", HELLO));
    tokens.caller = (await workspace.run("token", "create", "--user", "ada")).stdout.trim();
    tokens.viewer = (await workspace.run("token", "create", "--user", "eve", "--role", "viewer")).stdout.trim();
    const { child } = workspace.start(["up"]);
    await new Promise<void>((resolve) => child.stdout.on("data", (text) => text.includes("Stop with") && resolve()));
  });
  afterAll(() => workspace[Symbol.asyncDispose]());

  const run = (args: readonly string[], token: string) => workspace.start(args, { ISTHMUS_TOKEN: token }).ended;

  test.each(clientVerbs().map((words) => [words.join(" "), words] as const))(
    "is known as such by %s, which says what it says of a wrong token",
    async (_name, words) => {
      const { code, stdout, stderr } = await run(words, "ist_wrong");
      expect({ code, stdout }).toEqual({ code: 12, stdout: "" });
      expect(stderr).toContain(
        `the gateway at ${origin} did not accept the token in ISTHMUS_TOKEN: The token is not known`,
      );
      expect(stderr).not.toContain("another program");
      expect(stderr).toContain(`token create --user NAME${roleWord(words)}" makes one`);
    },
  );

  test.each(Object.keys(ROLES))("%s without a token says with which role one is made", async (name) => {
    await using home = new Workspace();
    const words = clientVerbs().find((one) => one.join(" ").startsWith(name)) ?? [];
    const { code, stderr } = await workspace.start(words, { HOME: home.folder }).ended;
    expect(code).toBe(12);
    expect(stderr).toContain(`makes one with "isthmus token create --user NAME${roleWord(words)}"`);
  });

  test("is known as such by a verb without a token, which says where to put one", async () => {
    const { code, stderr } = await workspace.run("list");
    expect(code).toBe(12);
    expect(stderr).toMatch(/asks who you are: .*\n.*put a token into ISTHMUS_TOKEN/);
  });

  test("tells a verb what its token lacks", async () => {
    const { code, stderr } = await run(["token", "list"], tokens.caller);
    expect(code).toBe(12);
    expect(stderr).toContain("does not let you: This needs the role admin.");
  });

  test("is known as such by doctor, which names the token as the problem", async () => {
    const { code, stdout } = await run(["doctor", "--json"], "ist_wrong");
    expect(code).toBe(8);
    const findings: { level: string; what: string; found: string }[] = JSON.parse(stdout).findings;
    expect(findings.find(({ what }) => what === "port")).toMatchObject({ level: "ok" });
    expect(findings.find(({ what }) => what === "token")).toMatchObject({
      level: "problem",
      found: expect.stringContaining("The token is not known"),
    });
  });
});

describe("something else that asks who somebody is, such as a proxy", () => {
  const answers: readonly (readonly [string, string, string])[] = [
    [
      "plain text",
      "\n  Sign in at the\u001b[2J portal first.\nSecond line.\n",
      "HTTP 401: Sign in at the [2J portal first.\n",
    ],
    [
      "a page",
      "<html><head>\n<title>401 Authorization\nRequired</title></head>…",
      "HTTP 401: 401 Authorization Required\n",
    ],
    ["a long line", "x".repeat(5_000), `HTTP 401: ${"x".repeat(199)}…\n`],
    ["nothing", "", "HTTP 401\n"],
  ];

  test.each(answers)("is quoted by its first line where it says so with %s", async (_what, body, said) => {
    await using workspace = new Workspace();
    const server = createServer((_request, response) => void response.writeHead(401).end(body)).listen(0, "127.0.0.1");
    try {
      await once(server, "listening");
      const { port } = server.address() as AddressInfo;
      for (const verb of ["list", "trace", "status"]) {
        const { code, stderr } = await workspace.run(verb, "--url", `http://127.0.0.1:${port}`);
        expect([verb, code, stderr]).toEqual([verb, 12, expect.stringContaining(said)]);
      }
    } finally {
      server.close();
    }
  });
});
