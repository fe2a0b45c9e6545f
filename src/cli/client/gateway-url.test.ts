import { describe, expect, test } from "vitest";
import { parseGatewayUrl } from "./gateway-url.ts";

describe("what --url means", () => {
  test.each([
    ["http://127.0.0.1:7411", "http://127.0.0.1:7411/mcp"],
    ["HTTPS://tools.example.com", "https://tools.example.com/mcp"],
    ["https://tools.example.com/crm/mcp", "https://tools.example.com/crm/mcp"],
    ["localhost:7411", "http://localhost:7411/mcp"],
    ["127.0.0.1:7411/crm/mcp", "http://127.0.0.1:7411/crm/mcp"],
    ["[::1]:7411", "http://[::1]:7411/mcp"],
  ])("is %s as %s", (written, url) => {
    expect(parseGatewayUrl(written).href).toBe(url);
  });

  // URLs take a number for an address of four bytes.
  test.each(["7412", ":7412"])("is no port alone (%s), and says how one is written", (written) => {
    expect(() => parseGatewayUrl(written)).toThrow("for a port of this machine write 127.0.0.1:7412");
  });

  test.each(["7412:80", "http://7412", "notaurl://x", "ftp://127.0.0.1:21", "gateway", "", "http://", "a b:1", "a:b"])(
    "is not %j",
    (written) => {
      expect(() => parseGatewayUrl(written)).toThrow(
        `--url: expected an address such as http://127.0.0.1:7411 or 127.0.0.1:7411, found ${JSON.stringify(written)}`,
      );
    },
  );
});
