import { describe, expect, test } from "vitest";
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
        "Stop with Ctrl-C.",
        "",
      ].join("\n"),
    );
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

  test("names the address in what to type next when verbs would not find it", () => {
    const text = summaryText({ ...demo, url: "http://127.0.0.1:9000/mcp" }, { ...options, isFound: false });
    expect(summaryText(demo, options)).toContain("  isthmus list ");
    expect(text).toContain("  isthmus list --url http://127.0.0.1:9000");
  });

  test("says so when there are no servers", () => {
    expect(summaryText({ url, servers: [] }, options)).toContain("  no servers are configured\n");
  });
});

describe("changeText", () => {
  test("says how many servers another config has changed, and shows them all", () => {
    const servers = [
      { id: "files", status: "ok", tools: 2 },
      { id: "crm", status: "unreachable", tools: 0, message: "refused" },
    ] as const;
    expect(changeText(servers, { added: ["files", "crm"], changed: [], removed: ["demo"] }, 80)).toBe(
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
