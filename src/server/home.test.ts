import { describe, expect, test } from "vitest";
import { person } from "../../tests/kit/approval-rig.ts";
import { silentLog } from "../../tests/kit/fake-host.ts";
import {
  ANONYMOUS,
  GatewayError,
  type HttpRequest,
  type HttpResponse,
  LOCAL,
  type Principal,
} from "../contract/index.ts";
import { createHome, type HomeOptions } from "./home.ts";

type Answer = { readonly status: number; readonly lines: string; readonly body: string };
type Sent = { readonly method?: string; readonly accept?: string; readonly principal?: Principal };

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

function ask({ method = "GET", accept, principal = LOCAL }: Sent, options: Partial<HomeOptions> = {}): Promise<Answer> {
  const home = createHome({
    version: "1.2.3",
    readiness: () => ({ body: { status: "ready", servers: { files: "ok", "<crm>": "unreachable" } } }),
    origin: () => "http://127.0.0.1:7411",
    waiting: async () => ({ calls: [{ tool: "crm.delete", url: "http://127.0.0.1:7411/approvals/1.x" }], more: 0 }),
    log: silentLog,
    ...options,
  });
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const headers = { host: "box:7411", ...(accept !== undefined && { accept }) };
  const request: HttpRequest = {
    ...{ method, url: "/", headers, principal, clientAddress: undefined },
    body: () => undefined,
    discard: () => undefined,
  };
  home(request, { answer: (status, lines, body) => resolve({ status, lines, body }) } as HttpResponse);
  return promise;
}

describe("what stands at /", () => {
  test("is a page for a browser, which says what this is, how it is and where to go", async () => {
    const { status, lines, body } = await ask({ accept: BROWSER });
    expect(status).toBe(200);
    expect(lines).toContain("Content-Type: text/html");
    expect(lines).toContain("Vary: Accept");
    for (const told of [
      "A gateway for MCP",
      "<dd>ready</dd>",
      "<code>http://127.0.0.1:7411/mcp</code>",
      "<dt>files</dt><dd>up</dd>",
      "<dt>&lt;crm&gt;</dt><dd>down</dd>",
      '<a href="http://127.0.0.1:7411/approvals/1.x">crm.delete</a>',
      "docs/guide",
      "/openapi.json",
      "1.2.3",
    ])
      expect(body).toContain(told);
  });

  test.each([undefined, "*/*", "application/json", "text/html;q=0", "TEXT/HTML; q=0.0, */*", "*/*, text/html ; Q = 0"])(
    "is JSON for a program that accepts %s",
    async (accept) => {
      const { status, lines, body } = await ask(accept === undefined ? {} : { accept });
      expect([status, lines.includes("Content-Type: application/json")]).toEqual([200, true]);
      expect(JSON.parse(body)).toEqual({
        name: "isthmus",
        status: "ready",
        mcp: "http://127.0.0.1:7411/mcp",
        version: "1.2.3",
        servers: { files: "ok", "<crm>": "unreachable" },
        waiting: [{ tool: "crm.delete", url: "http://127.0.0.1:7411/approvals/1.x" }],
        links: { health: "/healthz", readiness: "/readyz", api: "/openapi.json" },
      });
    },
  );

  test.each([BROWSER, "application/json"])(
    "names no server, call or version to whoever is not known (%s)",
    async (accept) => {
      const { body } = await ask({ accept, principal: ANONYMOUS });
      expect(body).toContain("ready");
      expect(body).not.toMatch(/files|crm|1\.2\.3/);
    },
  );

  test("links nothing that a browser would be refused, where nobody is known in it", async () => {
    const { body } = await ask({ accept: BROWSER, principal: ANONYMOUS });
    expect(body).toContain('<a href="/readyz">');
    expect(body).not.toContain("/openapi.json");
    expect(JSON.parse((await ask({ principal: ANONYMOUS })).body).links.api).toBe("/openapi.json");
  });

  test("names no server and no call to somebody from elsewhere, though they are known", async () => {
    const { body } = await ask({ accept: BROWSER, principal: person("ada", { role: "admin" }) });
    expect(body).toContain("1.2.3");
    expect(body).not.toMatch(/files|crm/);
  });

  test.each([ANONYMOUS, person("ada", { role: "admin" })])(
    "leads people to the sign-in where there is one, and the local user to the calls themselves",
    async (principal) => {
      const link = '<a href="/approvals/waiting">sign in</a>';
      expect((await ask({ accept: BROWSER, principal }, { hasSignIn: true })).body).toContain(link);
      expect((await ask({ accept: BROWSER, principal })).body).not.toContain(link);
      expect((await ask({ accept: BROWSER }, { hasSignIn: true })).body).not.toContain(link);
    },
  );

  test("names the address that somebody came to, where nobody knows a better one", async () => {
    const { body } = await ask({}, { origin: () => undefined });
    expect(JSON.parse(body)).toMatchObject({ mcp: "http://box:7411/mcp" });
  });

  test.each<[string, Sent]>([
    ["posts to it", { method: "POST", accept: "application/json, text/event-stream" }],
    ["wants a stream of it", { accept: "text/event-stream" }],
  ])("is nothing to a client that %s, and says where MCP is", async (_what, sent) => {
    expect(await ask(sent)).toMatchObject({ status: 404, body: expect.stringContaining("/mcp") });
  });

  test("says how many calls wait beside those that it shows", async () => {
    const calls = [{ tool: "crm.delete", url: "http://127.0.0.1:7411/approvals/1.x" }];
    const waiting = async () => ({ calls, more: 3 });
    expect((await ask({ accept: BROWSER }, { waiting })).body).toContain(
      "3 more, which <code>isthmus approvals</code> lists",
    );
    expect(JSON.parse(String((await ask({}, { waiting })).body))).toMatchObject({ waiting: calls, moreWaiting: 3 });
  });

  test("is not there while the store is away", async () => {
    const waiting = () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
    expect(await ask({}, { waiting })).toMatchObject({ status: 503 });
  });
});
