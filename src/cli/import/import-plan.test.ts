import { describe, expect, test } from "vitest";
import type { FoundServer } from "./found-server.ts";
import { idFor, isOurServer, planImport } from "./import-plan.ts";
import { SecretPaths } from "./secret-paths.ts";

const found = (name: string, server: FoundServer["server"] = { command: "x" }): FoundServer => ({
  name,
  server,
  notes: [],
});

/** As of a folder that holds these files of others. */
const secretPaths = (taken: readonly string[] = []) => new SecretPaths((path) => !taken.includes(path)).take;

function plan(servers: FoundServer[], ids: string[] = [], taken: string[] = []) {
  return planImport(servers, {
    ids: new Set(ids),
    segments: new Set(ids),
    isSame: (id, { command }) => command === `run ${id}`,
    isOurs: (server) => isOurServer(server, undefined),
    takeSecretPath: secretPaths(taken),
  });
}

describe("idFor", () => {
  test.each([
    ["files", "files"],
    ["My GitHub!", "My-GitHub"],
    ["@scope/pkg", "scope-pkg"],
    ["日本", "server"],
    ["mcp", "mcp-server"],
    ["a".repeat(100), "a".repeat(63)],
  ])("makes %s the id %s", (name, id) => {
    expect(idFor(name)).toBe(id);
  });
});

describe("planImport", () => {
  test("moves secrets to files and leaves settings and references where they are", () => {
    const { servers, secrets } = plan([
      found("git hub", {
        command: "npx",
        env: { GITHUB_TOKEN: "ghp_0123456789", LOG: "debug", KEY: { fromEnv: "KEY" } },
        headers: { "X-Api-Key": "abcdef" },
      }),
    ]);
    expect(servers[0]?.server).toEqual({
      id: "git-hub",
      command: "npx",
      env: {
        GITHUB_TOKEN: { fromFile: ".isthmus/secrets/git-hub/GITHUB_TOKEN" },
        LOG: "debug",
        KEY: { fromEnv: "KEY" },
      },
      headers: { "X-Api-Key": { fromFile: ".isthmus/secrets/git-hub/X-Api-Key" } },
    });
    expect(secrets).toEqual([
      { path: ".isthmus/secrets/git-hub/GITHUB_TOKEN", value: "ghp_0123456789" },
      { path: ".isthmus/secrets/git-hub/X-Api-Key", value: "abcdef" },
    ]);
    expect(servers[0]?.notes).toEqual([
      'is called "git-hub" here: an id has only the characters A-Z a-z 0-9 _ -',
      "GITHUB_TOKEN goes to .isthmus/secrets/git-hub/GITHUB_TOKEN, readable by you alone",
      "X-Api-Key goes to .isthmus/secrets/git-hub/X-Api-Key, readable by you alone",
    ]);
  });

  test.each<[string, FoundServer[]]>([
    [
      "of two servers, one of them named as the other with the beginning of a key",
      [
        found("brave", { url: "https://a.test/mcp", headers: { "search-BRAVE_API_KEY": "token-of-nobody" } }),
        found("brave-search", { command: "x", env: { BRAVE_API_KEY: "BSA-real-key" } }),
      ],
    ],
    [
      "of keys that differ in what no file name has",
      [found("a", { command: "x", env: { "A.TOKEN": "s3cret-a", A_TOKEN: "s3cret-b", "A/TOKEN": "s3cret-c" } })],
    ],
    [
      "of keys that differ in their case",
      [found("a", { command: "x", env: { TOKEN: "s3cret-a", Token: "s3cret-b" } })],
    ],
    [
      "of names that differ in their case",
      ["a", "A"].map((id) => found(id, { command: "x", env: { TOKEN: `s3cret-${id}` } })),
    ],
    [
      "of a variable and a header",
      [found("a", { command: "x", env: { TOKEN: "s3cret-a" }, headers: { TOKEN: "s3cret-b" } })],
    ],
    [
      "of keys longer than a file name",
      [
        found("a", {
          command: "x",
          env: { [`${"K".repeat(300)}_A_TOKEN`]: "s3cret-a", [`${"K".repeat(300)}_B_TOKEN`]: "s3cret-b" },
        }),
      ],
    ],
    [
      "of a key like a number that was given",
      [found("a", { command: "x", env: { "A TOKEN": "s3cret-a", "A.TOKEN": "s3cret-b", "A_TOKEN.2": "s3cret-c" } })],
    ],
  ])("gives each secret a file of its own: %s", (_, servers) => {
    const planned = plan(servers);
    const tables = planned.servers.flatMap(({ server }) => [server?.env ?? {}, server?.headers ?? {}]);
    const referred = tables.flatMap((table) => Object.values(table).map((value) => Object(value).fromFile as string));
    expect(new Set(referred.map((path) => path.toLowerCase())).size).toBe(referred.length);
    expect(planned.secrets.map(({ path }) => path)).toEqual(referred);
    for (const path of referred) expect(path).toMatch(/^\.isthmus\/secrets\/[\w-]+\/[\w-]{1,64}(\.\d)?$/);
  });

  test("takes no file that is there already, whosever it is", () => {
    const taken = [".isthmus/secrets/a/TOKEN", ".isthmus/secrets/a/TOKEN.2"];
    expect(plan([found("a", { command: "x", env: { TOKEN: "s3cret-a" } })], [], taken).secrets).toEqual([
      { path: ".isthmus/secrets/a/TOKEN.3", value: "s3cret-a" },
    ]);
  });

  test.each([[["--api-key", "abc"]], [["--token=abc"]], [["postgresql://u:p@h/db"]], [["sk-abcdef"]]])(
    "says that %j is copied in the clear",
    (args) => {
      expect(plan([found("a", { command: "x", args })]).servers[0]?.notes.join()).toMatch(/looks like a secret/);
    },
  );

  test("says nothing about plain arguments", () => {
    expect(plan([found("a", { command: "x", args: ["-y", "@scope/pkg@1.2.3", "/tmp"] })]).servers[0]?.notes).toEqual(
      [],
    );
  });

  test("skips what is there already, and gives two equal names two ids", () => {
    const files = found("files", { command: "run files" });
    const { servers } = plan([files, found("a b"), found("a-b"), found("a.b")], ["files"]);
    expect(servers.map(({ server, notes }) => server?.id ?? notes[0])).toEqual([
      "is in the config already",
      "a-b",
      "a-b-2",
      "a-b-3",
    ]);
  });

  test("takes under another id a server whose name in the config another one has", () => {
    const { servers } = plan([found("files"), found("files")], ["files"]);
    expect(servers.map(({ server, isOnlyThere, notes }) => [server?.id, isOnlyThere, notes])).toEqual([
      ["files-2", false, ['is called "files-2" here: another server has "files" already']],
      ["files-3", false, ['is called "files-3" here: another server has "files" already']],
    ]);
  });

  test("takes no id that a server has whose tools are called otherwise", () => {
    const context = { ids: new Set(["files"]), segments: new Set(["f"]), isSame: () => false, isOurs: () => false };
    const takeSecretPath = secretPaths();
    expect(planImport([found("files")], { ...context, takeSecretPath }).servers[0]?.server?.id).toBe("files-2");
  });

  test("names the id under which a server is there already, also where another one had the first", () => {
    const servers = ["a b", "a.b"].map((name, index) => found(name, { command: `run a-b${index === 0 ? "" : "-2"}` }));
    expect(plan(servers, ["a-b", "a-b-2"]).servers.map(({ notes }) => notes)).toEqual([
      ['is in the config already as "a-b"'],
      ['is in the config already as "a-b-2"'],
    ]);
  });

  test.each([
    [["a b"], 'is called "a-b" here: an id has only the characters A-Z a-z 0-9 _ -'],
    [["api"], 'is called "api-server" here: "/api" is a path of the gateway'],
    [["a-b", "a.b"], 'is called "a-b-2" here: another server has "a-b" already'],
    [["x".repeat(70)], `is called "${"x".repeat(63)}" here: an id has at most 63 characters, and only A-Z a-z 0-9 _ -`],
  ])("says why the last of %j cannot keep its name", (names, note) => {
    expect(plan(names.map((name) => found(name))).servers.at(-1)?.notes).toEqual([note]);
  });

  test("keeps a default that a variable has, and says where it looks like a secret", () => {
    const env = { API_KEY: "${API_KEY:-sk-abcdefgh}", MODE: "${MODE:-fast}" };
    const { servers, secrets } = plan([found("a", { command: "x", env })]);
    expect(servers[0]).toMatchObject({
      server: { env },
      notes: ["the default of API_KEY looks like a secret; it is copied as it is"],
    });
    expect(secrets).toEqual([]);
  });

  test("does not put the gateway behind itself", () => {
    const { servers } = plan([found("isthmus", { command: "isthmus", args: ["stdio"] })]);
    expect(servers[0]).toMatchObject({ server: undefined, isOnlyThere: false, notes: ["is this gateway"] });
  });

  test.each([
    [{ "X-Bad\n": "x" }, 'has a header "X-Bad\\n", which is no name that can be sent'],
    [{ "a b": "x" }, 'has a header "a b", which is no name that can be sent'],
    [{ "Content-Length": "5" }, 'has a header "Content-Length", which is no name that can be sent'],
    [
      { Authorization: "Bearer hunter2\r\nX: y" },
      'its header "Authorization" holds a line break, another control character or text that is not latin1',
    ],
    [{ X: "☃" }, 'its header "X" holds a line break, another control character or text that is not latin1'],
  ])("leaves with the client a server whose headers are %j, and moves no secret of it", (headers, note) => {
    const { servers, secrets } = plan([found("a", { url: "http://127.0.0.1/mcp", headers })]);
    expect(servers[0]).toMatchObject({ server: undefined, isOnlyThere: true, notes: [note] });
    expect(secrets).toEqual([]);
  });

  test("leaves with the client what cannot be taken", () => {
    const { servers } = plan([{ name: "off", server: undefined, notes: ["is disabled there"] }]);
    expect(servers[0]).toMatchObject({ isOnlyThere: true, notes: ["is disabled there"] });
  });
});

test("isOurServer knows the program however it is started, and the address", () => {
  const url = new URL("http://127.0.0.1:7411");
  expect(isOurServer({ command: "/usr/bin/isthmus", args: ["stdio"] }, url)).toBe(true);
  expect(isOurServer({ command: "C:\\node.exe", args: ["C:\\x\\isthmus.js", "stdio"] }, url)).toBe(true);
  expect(isOurServer({ url: "http://127.0.0.1:7411/files/mcp" }, url)).toBe(true);
  expect(isOurServer({ url: "http://127.0.0.1:9000/mcp" }, url)).toBe(false);
  expect(isOurServer({ command: "isthmus-tools", args: ["stdio"] }, url)).toBe(false);
  expect(isOurServer({ command: "npx", args: ["-y", "mcp-remote", "http://127.0.0.1:7411/mcp"] }, url)).toBe(true);
  expect(isOurServer({ command: "npx", args: ["-y", "mcp-remote", "http://127.0.0.1:9000/mcp"] }, url)).toBe(false);
});
