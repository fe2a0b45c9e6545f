/** What is said about a name that nothing has: by the config, in the log and by doctor. */
import { describe, expect, test } from "vitest";
import { startGateway } from "../kit/gateway.ts";
import { post, toolCall } from "../kit/rpc.ts";
import { HELLO, scriptServer, Workspace } from "./workspace.ts";

type Finding = { level: string; what: string; found: string; advice?: string };

/** Its tools "a b" and "a_b" have one name, and lists call the latter places.a_b_2. */
const PLACES = "tests/attacks/places-server.mjs";

const SAID: readonly (readonly [
  string,
  string,
  { readonly written: string; readonly server?: string; readonly meant: string },
])[] = [
  [
    "a grant",
    '[[access.grants]]\nagent = "*"\nserver = "places"\ntool = "a_b_2"\npermission = "deny"\n',
    { written: "a_b_2", server: "places", meant: "a_b" },
  ],
  [
    "a switch",
    '[[access.exposure]]\nserver = "places"\nprimitive = "a_b_2"\nenabled = false\n',
    { written: "a_b_2", server: "places", meant: "a_b" },
  ],
  [
    "a switch in a catalog",
    '[[catalogs]]\nid = "team"\n[[access.exposure]]\nserver = "team"\nprimitive = "places.a_b_2"\nenabled = false\n',
    { written: "places.a_b_2", meant: "places.a_b" },
  ],
  ["a limit", '[[limits]]\nprimitive = "places.a_b_2"\nbudget = 1\n', { written: "places.a_b_2", meant: "places.a_b" }],
  [
    "a set of scopes",
    '[[access.scopes]]\nmatch = "places.a_b_2"\nscopes = ["x"]\n',
    { written: "places.a_b_2", meant: "places.a_b" },
  ],
  [
    "what a catalog leaves out",
    '[[catalogs]]\nid = "team"\nexclude = ["places.a_b_2"]\n',
    { written: "places.a_b_2", meant: "places.a_b" },
  ],
];

describe("a name that only lists have", () => {
  test.each(SAID)("is told of by log and doctor in %s", async (_what, table, { written, server, meant }) => {
    await using workspace = new Workspace();
    const config = `${table}${scriptServer("places", PLACES, workspace.path("seen"))}`;
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${config}`);
    const { stdout, code } = await workspace.run("doctor", "--json");
    const findings: Finding[] = JSON.parse(stdout).findings;
    expect(findings.filter(({ what }) => what === "access")).toEqual([
      {
        level: "warning",
        what: "access",
        found: `what is said about "${written}"${server ? ` of ${server}` : ""} is about nothing: only lists call it so`,
        advice: `write "${meant}" instead`,
      },
    ]);
    expect(code).toBe(0);
    await using gateway = await startGateway({ config });
    await expect.poll(() => gateway.program.stderr).toContain(`"written":"${written}"`);
    expect(gateway.program.stderr).toContain(`"meant":["${meant}"]`);
  });

  test("is not told of once the one that is meant is there, which then does what it says", async () => {
    const seen = new Workspace();
    await using _ = seen;
    const config = `[[limits]]\nprimitive = "places.a_b"\nbudget = 1\n${scriptServer("places", PLACES, seen.path("seen"))}`;
    await using gateway = await startGateway({ config });
    const call = async (id: number, name: string) =>
      JSON.stringify((await post(gateway.url, toolCall(id, name, {}))).messages);
    expect(await call(1, "places.a_b_2")).toContain("done");
    for (const name of ["places.a_b_2", "places.a_b"]) expect(await call(2, name)).not.toContain("done");
    expect(gateway.program.stderr).not.toContain("it does nothing");
  });
});

describe("a pattern in a spelling in which no URI is judged", () => {
  test.each([
    ["escapes", "places.file:///a%2eb/*", "places.file:///a.b/*"],
    ["upper case", "places.HTTPS://intranet/*", "places.https://intranet/*"],
    ["doubled slashes", "places.file:///pub//secret/*", "places.file:///pub/secret/*"],
  ])("is told of by log and doctor: %s", async (_what, written, meant) => {
    await using workspace = new Workspace();
    const server = scriptServer("places", PLACES, workspace.path("seen"));
    const config = `[[access.rules]]\nmatch = "${written}"\neffect = "deny"\n${server}`;
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${config}`);
    const { stdout } = await workspace.run("doctor", "--json");
    const findings: Finding[] = JSON.parse(stdout).findings;
    expect(findings.filter(({ what }) => what === "access")).toMatchObject([
      {
        level: "warning",
        found: expect.stringContaining(`the pattern "${written}" fits nothing: `),
        advice: `write "${meant}" instead`,
      },
    ]);
    await using gateway = await startGateway({ config });
    await expect.poll(() => gateway.program.stderr).toContain(`"written":"${written}"`);
    expect(gateway.program.stderr).toContain(`"meant":"${meant}"`);
  });
});

describe("a typing mistake in what a catalog leaves out, renames or describes", () => {
  test.each([
    ["exclude", 'exclude = ["hello.ad"]', "hello.ad"],
    ["include", 'include = ["hello.greet", "hello.ad"]', "hello.ad"],
    ["rename", 'rename = { "hello.ad" = "sum" }', "hello.ad"],
    ["descriptions", 'descriptions = { "hello.ad" = "Adds." }', "hello.ad"],
  ])("is told of by log and doctor: %s", async (_key, line, written) => {
    await using workspace = new Workspace();
    const config = `[[catalogs]]\nid = "team"\n${line}\n${scriptServer("hello", HELLO)}`;
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${config}`);
    const { stdout } = await workspace.run("doctor", "--json");
    const findings: Finding[] = JSON.parse(stdout).findings;
    expect(findings.filter(({ what }) => what === "access")).toMatchObject([
      { level: "warning", found: `what is said about "${written}" is about nothing: no list has it now` },
    ]);
    await using gateway = await startGateway({ config });
    await expect.poll(() => gateway.program.stderr).toContain(`"written":"${written}"`);
  });
});

describe("a typing mistake in the only grant", () => {
  const auth = '[gateway]\nlisten = "127.0.0.1:0"\n[auth]\ntokens = true\n[[access.grants]]\nagent = "ann"\n';

  test("is a problem where it is in the server: nothing starts", async () => {
    await using workspace = new Workspace();
    workspace.write("isthmus.toml", `${auth}server = "helo"\n${scriptServer("hello", HELLO)}`);
    const said =
      'access.grants[0].server: expected the id of a server in this file, found "helo", did you mean "hello"?';
    const up = await workspace.run("up");
    expect([up.code === 0, up.stderr]).toEqual([false, expect.stringContaining(said)]);
    const { stdout } = await workspace.run("doctor", "--json");
    expect(JSON.parse(stdout).findings).toContainEqual(
      expect.objectContaining({ level: "problem", found: expect.stringContaining(said) }),
    );
  });

  test("grants nothing where it is in the tool, as log, up and doctor say", async () => {
    await using workspace = new Workspace();
    const config = `[auth]\ntokens = true\n[[access.grants]]\nagent = "ann"\nserver = "hello"\ntool = "greeet"\n`;
    workspace.write("isthmus.toml", `[gateway]\nlisten = "127.0.0.1:0"\n${config}${scriptServer("hello", HELLO)}`);
    const { stdout, code } = await workspace.run("doctor", "--json");
    const findings: Finding[] = JSON.parse(stdout).findings;
    expect(findings.filter(({ what }) => what === "access")).toMatchObject([
      { level: "problem", found: expect.stringContaining("nobody may use anything") },
      { level: "warning", found: 'what is said about "greeet" of hello is about nothing: no list has it now' },
    ]);
    expect(code).toBe(8);
    await using gateway = await startGateway({ config: `${config}${scriptServer("hello", HELLO)}` });
    await expect.poll(() => gateway.program.stderr).toContain("names what is not there now");
    expect(gateway.program.stdout).toContain('"grantsNothing":true');
  });
});
