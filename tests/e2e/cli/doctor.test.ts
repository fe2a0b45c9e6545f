import { chmodSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, HELLO, ODD, scriptServer, Workspace } from "./workspace.ts";

/** A web server that is no MCP server: it wants credentials at one path and has a page at every other. */
let web: Server;
let origin: string;
beforeAll(async () => {
  web = createServer((request, response) => {
    if (request.url === "/locked") response.writeHead(401).end();
    else response.writeHead(200, { "content-type": "text/html" }).end("<p>hello</p>");
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  const address = web.address();
  origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
});
afterAll(() => web.close());

test("a verb says so when something else answers where a gateway was asked", async () => {
  await using workspace = new Workspace();
  const page = await workspace.run("list", "--url", origin);
  expect(page).toMatchObject({ code: 7, stdout: "", stderr: expect.stringContaining("but not as an MCP server") });
  const traced = await workspace.run("trace", "--url", `${origin}/locked`);
  expect(traced).toMatchObject({ code: 7, stdout: "" });
});

type Finding = { level: string; what: string; found: string; advice?: string };

describe("doctor", () => {
  test("finds nothing wrong with a gateway that works", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${scriptServer("hello", HELLO)}`);
    const { code, stdout } = await workspace.run("doctor");
    expect(stdout).toMatch(/^ok +servers\.hello: 3 tools$/m);
    expect(stdout).toContain("Everything is well.");
    expect(code).toBe(0);
  });

  test.each<[string, (workspace: Workspace) => string, string]>([
    ["is not there", (workspace) => workspace.path("gone.pem"), "cannot be read (ENOENT)"],
    ["is a folder", (workspace) => workspace.folder, "cannot be read (EISDIR)"],
    ["holds no certificate", (workspace) => workspace.write("notes.pem", "no certificate\n"), "holds no certificate"],
  ])("says so where NODE_EXTRA_CA_CERTS names a file that %s", async (_what, make, why) => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${scriptServer("hello", HELLO)}`);
    const file = make(workspace);
    const { stdout } = await workspace.start(["doctor", "--json"], { NODE_EXTRA_CA_CERTS: file }).ended;
    const findings: Finding[] = JSON.parse(stdout).findings;
    expect(findings.find(({ what }) => what === "certificates")).toEqual({
      level: "warning",
      what: "certificates",
      found: `NODE_EXTRA_CA_CERTS names ${file}, which ${why}: Node goes on without it`,
      advice: expect.stringContaining("PEM"),
    });
  });

  test("says which bindings and rules are about a name that only lists have, as the log does", async () => {
    await using workspace = new Workspace();
    const access = [
      '[[access.rules]]\nmatch = "places.a_b_2"\neffect = "deny"\n',
      '[[access.bindings]]\ntarget = { type = "user", pattern = "*" }\nprimitive = "places.a_b_2"\nallowed = false\n',
      '[[access.rules]]\nmatch = "places.read"\neffect = "deny"\n',
    ];
    const server = scriptServer("places", "tests/attacks/places-server.mjs", workspace.path("seen"));
    workspace.write("isthmus.toml", ['[gateway]\nlisten = "127.0.0.1:0"\n', ...access, server].join(""));
    const { code, stdout } = await workspace.run("doctor", "--json");
    const findings: Finding[] = JSON.parse(stdout).findings;
    expect(findings.filter(({ what }) => what === "access")).toEqual([
      {
        level: "warning",
        what: "access",
        found: 'what is said about "places.a_b_2" is about nothing: only lists call it so',
        advice: 'write "places.a_b" instead',
      },
    ]);
    expect(code).toBe(0);
  });

  test("says what is wrong with each server and what to do, and tries the others all the same", async () => {
    await using workspace = new Workspace();
    const config = [
      '[gateway]\nlisten = "127.0.0.1:0"\n',
      scriptServer("hello", HELLO),
      '[[servers]]\nid = "missing"\ncommand = "/no/such/program"\n',
      scriptServer("keyless", ODD, "--needs-key"),
      '[[servers]]\nid = "silent"\ncommand = "sleep"\nargs = ["60"]\n',
      `[[servers]]\nid = "locked"\nurl = "${origin}/locked"\n`,
      `[[servers]]\nid = "page"\nurl = "${origin}/"\n`,
      '[[servers]]\nid = "nobody"\nurl = "http://127.0.0.1:9/mcp"\n',
    ];
    workspace.write("isthmus.toml", config.join(""));
    const { code, stdout } = await workspace.run("doctor", "--timeout", "3s", "--json");
    expect(code).toBe(8);
    const findings: Finding[] = JSON.parse(stdout).findings;
    const of = (id: string) => findings.find(({ what }) => what === `servers.${id}`);
    expect(of("hello")).toMatchObject({ level: "ok" });
    expect(of("missing")).toMatchObject({
      level: "problem",
      advice: "install /no/such/program, or write its whole path as command",
    });
    expect(of("keyless")?.found).toMatch(/exited with code 3.*NEEDED_KEY is not set/);
    expect(of("silent")).toMatchObject({ level: "problem", found: "said nothing within 3 s" });
    expect(of("locked")?.advice).toContain("Authorization");
    expect(of("page")).toMatchObject({ level: "problem", advice: expect.stringMatching(/url/) });
    expect(of("nobody")?.advice).toContain("http://127.0.0.1:9/mcp");
  });

  test("finds a state that cannot be written, as the start does", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${scriptServer("hello", HELLO)}`);
    const state = async () => {
      const findings = JSON.parse((await workspace.runAsNobody("doctor", "--json")).stdout).findings as Finding[];
      return findings.find(({ what }) => what === "state");
    };
    chmodSync(workspace.folder, 0o555);
    try {
      expect(await state()).toMatchObject({ level: "problem", found: expect.stringContaining("cannot be written") });
      expect((await workspace.runAsNobody("up")).code).toBe(10);
    } finally {
      chmodSync(workspace.folder, 0o777);
    }
    expect(await state()).toBeUndefined();
    workspace.write(".isthmus", "not a folder");
    expect(await state()).toMatchObject({ level: "problem" });
  });

  test.skipIf(process.getuid?.() !== 0)(
    "run by another user says whose the state is, and claims nothing of what it cannot look at",
    async () => {
      await using workspace = new Workspace();
      const port = await freePort();
      const auth = `[gateway]\nlisten = "127.0.0.1:${port}"\n[auth]\ntokens = true\n`;
      workspace.write("isthmus.toml", `${auth}${scriptServer("hello", HELLO)}`);
      await workspace.run("grant", "ada", "hello");
      await workspace.serve("up", ["hello"]);
      chmodSync(workspace.folder, 0o777);
      const { stdout } = await workspace.runAsNobody("doctor", "--json");
      const findings: Finding[] = JSON.parse(stdout).findings;
      expect(findings.filter(({ what }) => ["files", "pins", "state"].includes(what))).toEqual([
        {
          level: "warning",
          what: "files",
          found: `${workspace.path(".isthmus")} belongs to root: what is in it cannot be looked at`,
          advice: "run doctor as root",
        },
      ]);
      expect(findings.filter(({ what }) => what === "access")).toEqual([
        expect.objectContaining({ level: "warning", found: expect.stringContaining("cannot be looked at") }),
      ]);
      expect(stdout).not.toMatch(/chown|move the file|nobody may use/);
    },
  );

  test("says https:// at a port without TLS, a name of nobody and a command with arguments for what they are", async () => {
    await using workspace = new Workspace();
    const table = (id: string, line: string) => `[[servers]]\nid = "${id}"\n${line}\n`;
    const servers = [
      table("tls", `url = "${origin.replace("http:", "https:")}/mcp"`),
      table("name", 'url = "http://no-such-host.invalid/mcp"'),
      table("flag", 'command = "node x.mjs --flag"'),
    ];
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${servers.join("")}`);
    const { findings } = JSON.parse((await workspace.run("doctor", "--json")).stdout) as { findings: Finding[] };
    const advice = (id: string) => findings.find(({ what }) => what === `servers.${id}`)?.advice;
    expect(advice("tls")).toContain(`use ${origin}/mcp`);
    expect(advice("name")).toContain("the name no-such-host.invalid does not resolve");
    expect(advice("flag")).toContain('command = "node" and args = ["x.mjs", "--flag"]');
  });

  test("tells every problem of a config, and who has the port", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", '[gateway]\nlisen = "x"\n[[servers]]\nid = "a"\n');
    const { code, stdout } = await workspace.run("doctor", "--json");
    expect(code).toBe(8);
    const problems = (JSON.parse(stdout).findings as Finding[]).filter(({ level }) => level === "problem");
    expect(problems.map(({ found }) => found).join("\n")).toMatch(/did you mean "listen"\?[\s\S]*servers\.a\.url/);
    workspace.write("isthmus.toml", `[gateway]\nlisten = "${origin.slice("http://".length)}"\n`);
    expect((await workspace.run("doctor")).stdout).toMatch(/^PROBLEM {2}port: another program listens/m);
  });

  test("knows a client that points at us, and one that points at what is gone", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", '[gateway]\nlisten = "127.0.0.1:0"\n');
    workspace.write(
      ".cursor/mcp.json",
      '{"mcpServers":{"isthmus":{"command":"isthmus","args":["stdio","--config","/gone/isthmus.toml"]}}}',
    );
    const { code, stdout } = await workspace.run("doctor", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout).findings.at(-1)).toMatchObject({
      level: "warning",
      what: "clients.cursor",
      found: expect.stringContaining("/gone/isthmus.toml, which is not there"),
    });
  });
});
