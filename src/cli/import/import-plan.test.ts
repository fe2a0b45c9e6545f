import { describe, expect, test } from "vitest";
import type { FoundServer } from "./found-server.ts";
import { idFor, isOurServer, planImport } from "./import-plan.ts";

const found = (name: string, server: FoundServer["server"] = { command: "x" }): FoundServer => ({
  name,
  server,
  notes: [],
});

function plan(servers: FoundServer[], ids: string[] = []) {
  return planImport(servers, {
    ids: new Set(ids),
    segments: new Set(ids),
    isOurs: (server) => isOurServer(server, undefined),
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
        GITHUB_TOKEN: { fromFile: ".isthmus/secrets/git-hub-GITHUB_TOKEN" },
        LOG: "debug",
        KEY: { fromEnv: "KEY" },
      },
      headers: { "X-Api-Key": { fromFile: ".isthmus/secrets/git-hub-X-Api-Key" } },
    });
    expect(secrets).toEqual([
      { path: ".isthmus/secrets/git-hub-GITHUB_TOKEN", value: "ghp_0123456789" },
      { path: ".isthmus/secrets/git-hub-X-Api-Key", value: "abcdef" },
    ]);
    expect(servers[0]?.notes).toEqual([
      'is called "git-hub" here',
      "GITHUB_TOKEN goes to .isthmus/secrets/git-hub-GITHUB_TOKEN, readable by you alone",
      "X-Api-Key goes to .isthmus/secrets/git-hub-X-Api-Key, readable by you alone",
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
    const { servers } = plan([found("files"), found("a b"), found("a-b"), found("a.b")], ["files"]);
    expect(servers.map(({ server, notes }) => server?.id ?? notes[0])).toEqual([
      "is in the config already",
      "a-b",
      "a-b-2",
      "a-b-3",
    ]);
  });

  test("does not put the gateway behind itself", () => {
    const { servers } = plan([found("isthmus", { command: "isthmus", args: ["stdio"] })]);
    expect(servers[0]).toMatchObject({ server: undefined, isOnlyThere: false, notes: ["is this gateway"] });
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
});
