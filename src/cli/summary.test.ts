import { describe, expect, test } from "vitest";
import { summaryText } from "./summary.ts";

const url = "http://127.0.0.1:7411/mcp";

describe("summaryText", () => {
  test("shows the URL and a line per server", () => {
    const text = summaryText({
      url,
      servers: [
        { id: "files", status: "ok", tools: 1 },
        { id: "crm", status: "unreachable", tools: 0, message: "refused\u001b[2J\nreally" },
        { id: "new", status: "starting", tools: 0 },
      ],
    });
    expect(text).toBe(
      [
        "Isthmus listens on http://127.0.0.1:7411/mcp",
        "",
        "  files  ok            1 tool",
        "  crm    unreachable   refused [2J really",
        "  new    starting",
        "",
        "Point an MCP client at http://127.0.0.1:7411/mcp (Streamable HTTP).",
        "Stop with Ctrl-C.",
        "",
      ].join("\n"),
    );
  });

  test("says where a config was looked for, and what to try, when the demo runs", () => {
    const text = summaryText({ url, servers: [{ id: "demo", status: "ok", tools: 3 }], looked: ["a/isthmus.toml"] });
    expect(text).toMatch(/^No config was found.*\n {2}a\/isthmus.toml\n\nIsthmus listens/);
    expect(text).toContain("demo.greet");
  });

  test("says so when there are no servers", () => {
    expect(summaryText({ url, servers: [] })).toContain("  no servers are configured\n");
  });
});
