import { describe, expect, test } from "vitest";
import { describeServer } from "./add.ts";

describe("describeServer", () => {
  test.each(["https://example.com/mcp", "HTTP://127.0.0.1:9000"])(
    "takes %s alone for the address of a server",
    (url) => {
      const server = describeServer("web", [url], {});
      expect(server).toMatchObject({ id: "web", url });
      expect(server).not.toHaveProperty("command");
    },
  );

  test("takes anything else for a command", () => {
    const server = describeServer("web", ["bridge", "-v", "https://example.com/mcp"], {});
    expect(server).toMatchObject({ command: "bridge", args: ["-v", "https://example.com/mcp"] });
    expect(server).not.toHaveProperty("url");
  });

  test.each(["ftp://x", "wss://example.com/mcp", "sse://example.com", "FILE:///srv/x"])(
    "takes %s for no program",
    (url) => {
      expect(() => describeServer("web", [url], {})).toThrow(`expected an http(s) URL, found "${url}"`);
    },
  );

  test("takes no words behind an address, and no second address", () => {
    const url = "https://example.com/mcp";
    const refused = (words: string[], options = {}) => {
      return expect(() => describeServer("web", words, options));
    };
    refused([url, "--quiet"]).toThrow("takes no words behind it: found --quiet");
    refused([url], { url }).toThrow("expected either --url <url>");
  });
});
