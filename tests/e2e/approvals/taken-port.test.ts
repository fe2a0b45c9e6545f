/** Somebody else listens where the gateway was: what the command line says to them as its operator. */
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { runProgram } from "../kit/program.ts";

const ID = randomUUID();
const WAITING = {
  confirmation_id: ID,
  state: "waiting",
  tool: "demo.forget",
  server: "demo",
  requester: { principal: "local", user: "local", tenant: "default" },
  arguments: {},
  arguments_text: "{}",
  args_sha256: createHash("sha256").update("{}").digest("base64url"),
  evidence: "operator",
};

/** Answers whatever it is asked as a gateway would that believes everybody. `prove`: what it says when it has to prove itself. */
async function listen(prove: (path: string) => Promise<string>, { host = "127.0.0.1", port = 0, pass = "" } = {}) {
  const heard: string[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const { method, url = "", rawHeaders } = request;
      heard.push([method, url, ...rawHeaders, Buffer.concat(chunks).toString()].join(" "));
      response.setHeader("content-type", "application/json");
      if (url.startsWith("/api/operator/proof")) return response.end(await prove(url));
      if (pass) {
        const answer = await passOn(pass, request, Buffer.concat(chunks));
        return response.writeHead(answer.status).end(await answer.text());
      }
      if (url.startsWith("/api/approvals?")) return response.end(JSON.stringify({ approvals: [WAITING] }));
      if (url === `/api/approvals/${ID}`) return response.end(JSON.stringify(WAITING));
      return response.end(JSON.stringify({ status: "approved", confirmation_id: ID, granted: true, entry: {} }));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const url = `http://${host === "::1" ? "[::1]" : host}:${(server.address() as AddressInfo).port}`;
  return { url, heard, [Symbol.asyncDispose]: async () => void server.close() };
}

/** What the gateway answers to the very same request. */
async function passOn(origin: string, { method = "", url = "", headers }: IncomingMessage, body: Buffer) {
  const { authorization = "", "content-digest": digest = "", "content-type": type = "application/json" } = headers;
  const said = { authorization, "content-digest": String(digest), "content-type": type };
  return await fetch(new URL(url, origin), { method, headers: said, ...(body.length > 0 && { body }) });
}

const COMMANDS = [
  ["approve", ID],
  ["deny", ID],
  ["grant", "eve", "hello"],
  ["revoke", "eve", "hello"],
  ["token", "create", "--user", "eve"],
];

describe("whoever has taken the gateway's port", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  const run = (...args: string[]) => runProgram(args, { env: { HOME: gateway.program.folder } });

  test.each(COMMANDS)("gets neither the token nor a proof of it from: %s", async (...command) => {
    const { stdout: token } = await run("operator", "token");
    const proofs = ["{}", '{"proof":""}', `{"proof":"${"A".repeat(43)}"}`, "no JSON"];
    for (const proof of proofs) {
      await using other = await listen(async () => proof);
      const { code, stderr } = await run(...command, "--url", other.url);
      expect([code, stderr]).toEqual([
        7,
        expect.stringContaining(
          `what listens at ${other.url} does not know your operator token: it is not your gateway`,
        ),
      ]);
      expect(other.heard.some((line) => line.includes("/api/operator/proof"))).toBe(true);
      expect(other.heard.filter((line) => /authorization/i.test(line) || line.includes(token.trim()))).toEqual([]);
    }
  });

  test("cannot have the gateway prove it for them at another port", async () => {
    await using other = await listen(async (path) => (await fetch(new URL(path, gateway.url))).text());
    const { code } = await run("approve", ID, "--url", other.url);
    expect(code).toBe(7);
    expect(other.heard.filter((line) => /authorization/i.test(line))).toEqual([]);
  });

  test("at the other address of localhost gets nothing made by what it passes on", async () => {
    const { port, origin } = new URL(gateway.origin);
    await using other = await listen(async (path) => (await fetch(new URL(path, origin))).text(), {
      host: "::1",
      port: Number(port),
      pass: origin,
    });
    const { code, stdout } = await run("grant", "eve", "demo", "--url", other.url);
    expect([code, stdout]).toEqual([12, ""]);
    expect(other.heard.some((line) => line.includes("Isthmus-Operator"))).toBe(true);
  });

  test("does not get in the way of the gateway itself, which is shown who asks", async () => {
    const { code, stderr } = await run("grant", "ada", "demo", "--url", gateway.origin);
    expect([code, stderr]).toEqual([0, ""]);
  });

  test("leaves whoever shows the token themselves alone", async () => {
    const { stdout: token } = await run("operator", "token");
    const headers = { authorization: `Bearer ${token.trim()}`, "content-type": "application/json" };
    const body = JSON.stringify({ entry_type: "server_grant", agent_id: "bob", server_id: "demo" });
    const { status } = await fetch(new URL("/api/access/grant", gateway.url), { method: "POST", headers, body });
    expect(status).toBe(200);
  });
});
