import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ManualTime } from "../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../tests/kit/quiet.ts";
import { type HttpRequest, type HttpResponse, LOCAL, type OriginFault, type Principal } from "../contract/index.ts";
import { createAdminFront } from "../fronts/admin/index.ts";
import { IdentityRig, NOW } from "../mechanisms/identity/fixtures/identity-rig.ts";
import { operation, schemaOf } from "../mechanisms/schemas/index.ts";
import { createCors } from "./cors.ts";
import type { Authenticator } from "./governance/index.ts";
import { RawClient, turn, until } from "./http/fixtures/raw-client.ts";
import { HttpServer } from "./http-server.ts";

type Handler = (request: HttpRequest, response: HttpResponse) => void;

/** A server whose parts keep each body that they are given. `handler`: of MCP, where it is to do something else. */
async function serverRig(
  authenticator: Authenticator,
  handler?: Handler,
  gate: () => OriginFault | undefined = () => undefined,
) {
  const log = new KeptLog();
  const timers = new ManualTime();
  const done: string[] = [];
  const meter = new KeptMeter();
  const keep: Handler = (request, response) =>
    request.body(1024, {
      onBody(text) {
        done.push(text);
        response.answer(201, "", "");
      },
      onTooLarge: () => response.answer(413, "", ""),
    });
  const make = operation({
    id: "things.make",
    method: "POST",
    path: "/api/things",
    summary: "Makes a thing.",
    role: "admin",
    input: schemaOf(z.strictObject({ body: z.strictObject({ name: z.string() }) })),
    run: async ({ body }) => {
      done.push(JSON.stringify(body));
      return { status: 201 };
    },
  });
  const admin = createAdminFront({ operations: [make], version: "0", maxBody: () => 1024, gate, timers, log, meter });
  const server = new HttpServer({
    authenticator,
    gate,
    cors: createCors({ allowedOrigins: ["https://app.example"] }),
    timers,
    meter,
    log,
    clientAddress: (peer) => peer,
    routes: {
      front: handler ?? keep,
      confirm: keep,
      consent: keep,
      approvals: keep,
      hasSse: false,
      readiness: () => ({ isReady: true, body: { status: "ready" } }),
      metrics: async () => "",
      home: keep,
      admin: async () => admin,
    },
  });
  const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
  const client = new RawClient(port);
  return {
    log,
    done,
    client,
    async [Symbol.asyncDispose]() {
      client.socket.destroy();
      await server.close();
    },
  };
}

const BODY = '{"name":"a"}';

function headOf(path: string, token = "x"): string {
  const lines = `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}`;
  return `POST ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`;
}

/** Finds out who sends a request, and counts how often it was asked. */
class CountingIdentity extends IdentityRig implements Authenticator {
  asked = 0;

  authenticate(request: HttpRequest): Principal | Promise<Principal> {
    this.asked++;
    return this.identity.authenticate(request);
  }

  challenge(request: HttpRequest, error: unknown): string {
    return this.identity.challenge(request, error);
  }

  stepUp(): string {
    return "";
  }

  metadata(): object {
    return {};
  }

  readonly tokenAdvice = "";

  /** As a block does it. */
  async block(token: string): Promise<void> {
    const { id } = await this.who({ ...REQUEST, headers: { authorization: `Bearer ${token}` } });
    this.revoked.add(id);
    this.identity.doubtAll();
  }
}

const REQUEST: HttpRequest = {
  method: "GET",
  url: "/mcp",
  headers: {},
  principal: LOCAL,
  clientAddress: undefined,
  body: () => undefined,
  discard: () => undefined,
};

const PATHS = ["/api/things", "/mcp", "/mcpax/confirm", "/approvals/1"];

describe("a page of a listed origin", () => {
  const lines = "Host: a\r\nOrigin: https://app.example\r\n";
  const shown = "Access-Control-Allow-Origin: https://app.example\r\n";

  test.each<[string, string, number, Handler?]>([
    ["turned away", `POST /mcp HTTP/1.1\r\n${lines}\r\n`, 401],
    ["about nothing", `GET /.well-known/nothing HTTP/1.1\r\n${lines}Authorization: Bearer %\r\n\r\n`, 404],
    [
      "of our own fault",
      `POST /mcp HTTP/1.1\r\n${lines}Authorization: Bearer %\r\n\r\n`,
      500,
      () => {
        throw new Error("a defect");
      },
    ],
    [
      "that streams",
      `POST /mcp HTTP/1.1\r\n${lines}Authorization: Bearer %\r\n\r\n`,
      200,
      (_request, response) => {
        response.open(200, "");
        response.end("data");
      },
    ],
    ["before it asks", `OPTIONS /mcp HTTP/1.1\r\n${lines}Access-Control-Request-Method: POST\r\n\r\n`, 204],
  ])("is shown the answer %s", async (_what, text, status, handler) => {
    const identity = new CountingIdentity();
    await using rig = await serverRig(identity, handler);
    rig.client.write(text.replace("%", identity.addToken()));
    await rig.client.until(({ statuses }) => statuses.length === 1);
    expect(rig.client.statuses).toEqual([status]);
    expect(rig.client.text).toContain(shown);
  });

  test("is let in by no Host that is not ours", async () => {
    await using rig = await serverRig(new CountingIdentity(), undefined, () => "host");
    rig.client.write(`OPTIONS /mcp HTTP/1.1\r\n${lines}Access-Control-Request-Method: POST\r\n\r\n`);
    await rig.client.until(({ statuses }) => statuses.length === 1);
    expect(rig.client.statuses).toEqual([403]);
  });
});

describe("a body that comes later than its head", () => {
  async function begin(path: string, row: Parameters<IdentityRig["addToken"]>[0] = {}) {
    const identity = new CountingIdentity();
    const token = identity.addToken({ role: "admin", ...row });
    const rig = await serverRig(identity);
    rig.client.write(headOf(path, token) + BODY.slice(0, 5));
    await until(() => identity.tokens.finds === 1);
    for (let round = 0; round < 20; round++) await turn();
    return { ...rig, identity, token };
  }

  test.each(PATHS)("of somebody who was blocked meanwhile is not handed on at %s", async (path) => {
    await using rig = await begin(path);
    await rig.identity.block(rig.token);
    rig.client.write(BODY.slice(5));
    await rig.client.until(({ statuses }) => statuses.length > 0);
    expect([rig.client.statuses, rig.done]).toEqual([[401], []]);
    expect(rig.identity.noted).toMatchObject([{ details: { reason: "revoked", path } }]);
  });

  test.each(PATHS)("with a token that has expired meanwhile is not handed on at %s", async (path) => {
    await using rig = await begin(path, { expiresAt: NOW + 60_000 });
    rig.identity.time.advance(60_000);
    rig.client.write(BODY.slice(5));
    await rig.client.until(({ statuses }) => statuses.length > 0);
    expect([rig.client.statuses, rig.done]).toEqual([[401], []]);
    expect(rig.identity.noted).toMatchObject([{ details: { reason: "expired", path } }]);
  });

  test.each(PATHS)("of somebody who is still known is handed on at %s", async (path) => {
    await using rig = await begin(path);
    rig.identity.identity.doubtAll();
    rig.client.write(BODY.slice(5));
    await rig.client.until(({ statuses }) => statuses.length > 0);
    expect([rig.client.statuses, rig.done]).toEqual([[201], [BODY]]);
  });

  test("is the only one for which its sender is asked twice", async () => {
    const identity = new CountingIdentity();
    const token = identity.addToken();
    await using rig = await serverRig(identity);
    rig.client.write(headOf("/mcp", token) + BODY);
    await rig.client.until(({ statuses }) => statuses.length === 1);
    expect(identity.asked).toBe(1);
  });
});

describe("a failure after somebody was looked up", () => {
  const late: Authenticator = {
    authenticate: () => Promise.resolve(LOCAL),
    challenge: () => "",
    stepUp: () => "",
    metadata: () => ({}),
    tokenAdvice: "",
  };

  test("is logged and answered with 500, and the next request is served", async () => {
    let failures = 0;
    await using rig = await serverRig(late, (request, response) => {
      request.discard();
      if (failures++ === 0) throw new Error("a defect");
      response.answer(200, "", "");
    });
    rig.client.write(headOf("/mcp") + BODY);
    await rig.client.until(({ statuses }) => statuses.length === 1);
    rig.client.write(headOf("/mcp") + BODY);
    await rig.client.until(({ statuses }) => statuses.length === 2);
    expect(rig.client.statuses).toEqual([500, 200]);
    expect(rig.log.lines).toMatchObject([{ level: "error", message: "request failed" }]);
  });

  test("in the middle of an answer is logged and breaks it off", async () => {
    await using rig = await serverRig(late, (_request, response) => {
      response.open(200, "");
      response.write("half");
      throw new Error("a defect");
    });
    rig.client.write(headOf("/mcp") + BODY);
    expect(await rig.client.all()).not.toContain("\r\n0\r\n");
    expect(rig.log.lines).toMatchObject([{ level: "error", message: "request failed" }]);
  });

  test("of whoever was given a late body is logged and answered with 500", async () => {
    await using rig = await serverRig(late, (request) =>
      request.body(1024, {
        onBody() {
          throw new Error("a defect");
        },
        onTooLarge: () => undefined,
      }),
    );
    rig.client.write(headOf("/mcp"));
    for (let round = 0; round < 20; round++) await turn();
    rig.client.write(BODY);
    await rig.client.until(({ statuses }) => statuses.length === 1);
    expect(rig.client.statuses).toEqual([500]);
    expect(rig.log.lines).toMatchObject([{ level: "error", message: "request failed" }]);
  });
});
