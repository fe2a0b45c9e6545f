import { describe, expect, test } from "vitest";
import { programName } from "./program-name.ts";
import { changeText, summaryText } from "./summary.ts";

const url = "http://127.0.0.1:7411/mcp";
const options = { program: "isthmus", width: 80, isFound: true };

describe("summaryText", () => {
  test("shows the URL and a line per server", () => {
    const text = summaryText(
      {
        url,
        servers: [
          { id: "files", status: "ok", tools: 1 },
          { id: "crm", status: "unreachable", tools: 0, message: "refused\u001b[2J\nreally" },
          { id: "new", status: "starting", tools: 0 },
        ],
      },
      options,
    );
    expect(text).toBe(
      [
        "Isthmus listens on http://127.0.0.1:7411/mcp",
        "",
        "  files  ok           1 tool",
        "  crm    unreachable  refused [2J really",
        "  new    starting",
        "",
        '"isthmus doctor" says what to do about crm.',
        "",
        "Point an MCP client at http://127.0.0.1:7411/mcp (Streamable HTTP).",
        "Open http://127.0.0.1:7411/ in a browser to see it, and what waits for a yes.",
        "Stop with Ctrl-C.",
        "",
      ].join("\n"),
    );
  });

  test.each([
    [
      "http://0.0.0.0:7411/mcp",
      "http://127.0.0.1:7411/mcp",
      "only by the names in allowedHosts of [gateway]: there are none.",
    ],
    [
      "http://10.0.0.5:7411/mcp",
      "http://10.0.0.5:7411/mcp",
      "as 10.0.0.5:7411, or by names in allowedHosts of [gateway].",
    ],
  ])("says by what name other machines reach it at %s, where none was written", (at, reachable, said) => {
    const shown = { ...options, reachable };
    const line = `Isthmus listens on ${at}\nOther machines reach it ${said}\n`;
    expect(summaryText({ url: at, servers: [] }, { ...shown, lacksNames: true })).toContain(line);
    expect(summaryText({ url: at, servers: [] }, shown)).not.toContain("allowedHosts");
  });

  test.each(["isthmus", "npm run -s isthmus --"])(
    "says of the demo where to try next: in this folder (%s)",
    (program) => {
      const text = summaryText({ url, servers: [], looked: ["/a/isthmus.toml"] }, { ...options, program });
      expect(text).toContain("Try next, in another terminal in this folder:");
    },
  );

  test("never cuts what is wrong with a server: it may end with a name that somebody must type", () => {
    const name = "TICKETS_ACCESS_TOKEN_OF_THE_STAGING_ENVIRONMENT_FOR_THE_SUPPORT_TEAM_2026";
    const message = `env.TOKEN.fromEnv: the environment variable ${name} is not set`;
    const text = summaryText({ url, servers: [{ id: "tickets", status: "invalid", tools: 0, message }] }, options);
    expect(text).toContain(
      [
        "  tickets  invalid  env.TOKEN.fromEnv: the environment variable",
        `                    ${name}`,
        "                    is not set",
        "",
      ].join("\n"),
    );
  });

  test("quotes the last of what a program wrote that does not work", () => {
    const lastWords = ["Error: first", "  Error: no KEY"];
    const dying = { id: "crm", status: "unreachable" as const, tools: 0, message: "exited with code 1", lastWords };
    const change = { added: ["crm"], changed: [], removed: [], settings: [] };
    expect(changeText([dying], change, { width: 80, grantsNothing: false })).toContain(
      "  crm  unreachable  exited with code 1\n    it wrote: Error: no KEY\n",
    );
  });

  test("says what to write where callers are known and nothing was granted to any of them", () => {
    const servers = [{ id: "files", status: "ok", tools: 1 }] as const;
    const text = summaryText({ url, servers, callers: ["tokens of this gateway"], grantsNothing: true }, options);
    expect(text).toContain("Nobody may use anything: callers are asked who they are");
    expect(text).toContain("  isthmus grant USER files\n");
    expect(text).toContain('  [[access.grants]]\n  agent = "USER"\n  server = "files"\n');
    const change = { added: [], changed: [], removed: [], settings: [] };
    expect(changeText(servers, change, { width: 80, grantsNothing: true })).toContain("  isthmus grant USER files\n");
  });

  const demo = {
    url,
    servers: [{ id: "demo", status: "ok", tools: 3 }],
    looked: ["a/isthmus.toml"],
    call: { words: "call demo.greet name=Ada", answer: "Hello, Ada!", waiting: "call demo.forget name=Ada" },
  } as const;

  test("shows where a config was looked for, a call that was made, and what to type next, when the demo runs", () => {
    const text = summaryText(demo, { ...options, program: "npm run -s isthmus --" });
    expect(text).toMatch(/^No config was found.*\n {2}a\/isthmus.toml\n\nIsthmus listens/);
    expect(text).toContain("A call, just now:\n  isthmus call demo.greet name=Ada\n  Hello, Ada!\n");
    expect(text).toContain("And one that waits for your yes:\n  isthmus call demo.forget name=Ada\n");
    expect(text).toMatch(/^ {2}isthmus approve --latest +say yes/m);
    expect(text).toContain("in this folder:\n  alias isthmus='npm run -s isthmus --'\n  isthmus list ");
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test("advises no yes to whoever has no operator token: nobody would be known to give it", () => {
    const text = summaryText(demo, { ...options, knowsOperator: false });
    expect(text).toContain("  isthmus trace");
    expect(text).not.toMatch(/approve|waits for your yes|demo\.forget/);
  });

  test("names the address in what to type next when verbs would not find it", () => {
    const text = summaryText({ ...demo, url: "http://127.0.0.1:9000/mcp" }, { ...options, isFound: false });
    expect(summaryText(demo, options)).toContain("  isthmus list ");
    expect(text).toContain("  isthmus list --url http://127.0.0.1:9000");
  });

  test("points clients at an address that can be connected to", () => {
    const text = summaryText(
      { ...demo, url: "http://0.0.0.0:7411/mcp" },
      { ...options, reachable: url, isFound: false },
    );
    expect(text).toContain("Isthmus listens on http://0.0.0.0:7411/mcp\n");
    expect(text).toContain("Point an MCP client at http://127.0.0.1:7411/mcp ");
    expect(text.match(/0\.0\.0\.0/g)).toHaveLength(1);
  });

  test.each([
    [{ npm_lifecycle_event: "npx" }, "npx isthmus"],
    [{ npm_lifecycle_event: "npx", npm_config_package: "/a/isthmus.tgz" }, "npx --package=/a/isthmus.tgz isthmus"],
    [{ npm_lifecycle_event: "start" }, "npm run -s isthmus --"],
  ])("says how to call a program that is not on the PATH (%j)", (env, program) => {
    expect(programName(env)).toBe(program);
    expect(summaryText(demo, { ...options, program })).toContain(`  alias isthmus='${program}'\n  isthmus list `);
  });

  test("is called by its name in a script of another package, whatever that script is called", () => {
    expect(programName({ npm_lifecycle_event: "start", npm_package_name: "shop" })).toBe("isthmus");
    expect(programName({ npm_lifecycle_event: "isthmus", npm_package_name: "isthmus" })).toBe("npm run -s isthmus --");
  });

  test("says so when there are no servers", () => {
    expect(summaryText({ url, servers: [] }, options)).toContain(
      '  no servers are configured\n  "isthmus add NAME -- COMMAND" adds one\n',
    );
  });
});

describe("changeText", () => {
  test("names the settings that have changed, also where no server has", () => {
    const change = { added: [], changed: [], removed: [], settings: ["pageSize", "gate.mode", "access.grants"] };
    expect(changeText([], change, { width: 80, grantsNothing: false })).toContain(
      "\nThe config has changed and was taken over: pageSize, gate.mode, access.grants.\n",
    );
  });

  test("says how many servers another config has changed, and shows them all", () => {
    const servers = [
      { id: "files", status: "ok", tools: 2 },
      { id: "crm", status: "unreachable", tools: 0, message: "refused" },
    ] as const;
    expect(
      changeText(
        servers,
        { added: ["files", "crm"], changed: [], removed: ["demo"], settings: [] },
        { width: 80, grantsNothing: false },
      ),
    ).toBe(
      [
        "",
        "The config has changed and was taken over: 2 new, 1 gone.",
        "",
        "  files  ok           2 tools",
        "  crm    unreachable  refused",
        "",
        '"isthmus doctor" says what to do about crm.',
        "",
      ].join("\n"),
    );
  });
});
