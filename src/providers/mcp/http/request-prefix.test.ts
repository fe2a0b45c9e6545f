import { describe, expect, test } from "vitest";
import { buildPrefixes, buildRequest } from "./request-prefix.ts";

const url = new URL("http://user:pass@example.test:8080/mcp?x=1#part");

describe("buildPrefixes", () => {
  test("names path and query, host and what is accepted, and leaves out the rest of the URL", () => {
    expect(buildPrefixes(url, {}).POST).toBe(
      "POST /mcp?x=1 HTTP/1.1\r\nHost: example.test:8080\r\nUser-Agent: isthmus\r\n" +
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n",
    );
    expect(buildPrefixes(url, {}).GET).toContain("Accept: text/event-stream\r\n");
    expect(buildPrefixes(url, {}).DELETE).not.toContain("Content-Type");
  });

  test("lets a configured header replace ours of the same name", () => {
    const prefix = buildPrefixes(url, { host: "other.test", "user-agent": "mine", Authorization: "Bearer x" }).GET;
    expect(prefix).toBe(
      "GET /mcp?x=1 HTTP/1.1\r\nAccept: text/event-stream\r\nhost: other.test\r\nuser-agent: mine\r\nAuthorization: Bearer x\r\n",
    );
  });

  test.each(["Content-Length", "transfer-encoding", "Connection"])("refuses to let %s be configured", (name) => {
    expect(() => buildPrefixes(url, { [name]: "1" })).toThrow(name);
  });

  test("refuses a header that would break out of its line", () => {
    expect(() => buildPrefixes(url, { "X-A": "1\r\nX-B: 2" })).toThrow(/X-A/);
  });
});

describe("buildRequest", () => {
  const prefixes = { POST: "P\r\n", GET: "G\r\n", DELETE: "D\r\n" };

  test("counts the body in bytes", () => {
    const body = Buffer.from('"\u00e9\u20ac"').toString("latin1");
    expect(buildRequest(prefixes, { method: "POST", head: "A: b\r\n", body })).toBe(
      `P\r\nA: b\r\nContent-Length: 7\r\n\r\n${body}`,
    );
  });

  test("goes to another path where it has one, and leaves out nothing else", () => {
    const own = buildPrefixes(url, { "X-A": "1 HTTP/1.1" });
    const sent = buildRequest(own, { method: "POST", head: "", body: "x", path: "/messages?at=1" });
    expect(sent).toBe(buildRequest(own, { method: "POST", head: "", body: "x" }).replace("/mcp?x=1", "/messages?at=1"));
  });

  test("sends no length without a body, and a zero length with an empty one", () => {
    expect(buildRequest(prefixes, { method: "GET", head: "" })).toBe("G\r\n\r\n");
    expect(buildRequest(prefixes, { method: "POST", head: "", body: "" })).toBe("P\r\nContent-Length: 0\r\n\r\n");
  });
});
