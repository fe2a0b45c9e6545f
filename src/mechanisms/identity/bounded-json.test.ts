import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { isSafeUrl, readJson } from "./bounded-json.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(answer: Parameters<typeof createServer>[1]): Promise<URL> {
  const started = createServer(answer);
  server = started;
  await new Promise<void>((resolve) => started.listen({ host: "127.0.0.1", port: 0 }, resolve));
  return new URL(`http://127.0.0.1:${(started.address() as AddressInfo).port}/keys`);
}

describe("readJson", () => {
  test("reads what an issuer publishes", async () => {
    expect(await readJson(await serve((_request, response) => response.end('{"keys":[]}')))).toEqual({ keys: [] });
  });

  test("goes nowhere else, wherever it is sent", async () => {
    const asked: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      asked.push(request.url);
      response.writeHead(302, { location: "/elsewhere" }).end();
    });
    await expect(readJson(url)).rejects.toThrow();
    expect(asked).toEqual(["/keys"]);
  });

  test("stops reading what is too large, however it comes", async () => {
    let sent = 0;
    const url = await serve((_request, response) => {
      const more = () => {
        sent += 65_536;
        if (!response.destroyed) response.write("a".repeat(65_536), more);
      };
      more();
    });
    await expect(readJson(url)).rejects.toThrow("larger than");
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  test.each([404, 500, 204])("takes no answer with status %i", async (status) => {
    const url = await serve((_request, response) => response.writeHead(status).end());
    await expect(readJson(url)).rejects.toThrow(`HTTP ${status}`);
  });

  test("takes nothing that is no JSON", async () => {
    await expect(readJson(await serve((_request, response) => response.end("<html>")))).rejects.toThrow();
  });
});

describe("isSafeUrl", () => {
  test.each(["https://a.example", "http://127.0.0.1:1", "http://localhost", "http://[::1]/x"])("takes %s", (url) => {
    expect(isSafeUrl(new URL(url))).toBe(true);
  });

  test.each([
    "http://a.example",
    "http://127.0.0.1.evil.example",
    "http://localhost.evil.example",
    "file:///x",
    "http://10.0.0.1",
  ])("does not take %s", (url) => {
    expect(isSafeUrl(new URL(url))).toBe(false);
  });
});
