import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { operatorToken } from "../kit/operator.ts";
import { ROOT } from "../kit/program.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";
import { partPath } from "../real-parts/part.ts";
import { type Api, apiAt, makeToken } from "./api.ts";

const SERVER = join(ROOT, "tests/e2e/config/echo-server.mjs");
const CONFIG = `
[auth]
tokens = true
local = true

[[servers]]
id = "echo"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(SERVER)}]
`;

let gateway: RunningGateway;
let api: Api;

beforeAll(async () => {
  gateway = await startGateway({ config: CONFIG });
  api = apiAt(gateway.origin, operatorToken(gateway.program.folder));
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

describe("the description of the API", () => {
  test("is OpenAPI 3.1 that a validator of others accepts, under both of its addresses [AP-029]", async () => {
    const { Validator } = await import(partPath("@seriousme/openapi-schema-validator/index.js"));
    const { body } = await api("GET", "/openapi.json");
    expect((await api("GET", "/api/openapi.json")).body).toEqual(body);
    const validator = new Validator();
    expect(await validator.validate(structuredClone(body))).toMatchObject({ valid: true });
    expect(validator.version).toBe("3.1");
    // Everything that is pointed at is there.
    expect(() => validator.resolveRefs()).not.toThrow();
  });

  test("names every address that is served, and serves every address it names", async () => {
    const { paths } = (await api("GET", "/openapi.json")).body as { paths: Record<string, Record<string, object>> };
    for (const [path, item] of Object.entries(paths)) {
      const url = path.replaceAll(/\{\w+\}/g, "x");
      const described = Object.keys(item).map((method) => method.toUpperCase());
      const { status, headers } = await api("PATCH", url);
      expect([path, status]).toEqual([path, 405]);
      expect([
        path,
        headers
          .get("allow")
          ?.split(", ")
          .filter((method) => method !== "HEAD")
          .sort(),
      ]).toEqual([path, described.sort()]);
    }
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(["/api/sessions", "/api/revocations", "/api/servers/{serverId}", "/api/events"]),
    );
  });
});

describe("a server that is added by the API", () => {
  test("is there at once under an address of its own, and gone again when it is removed [AP-092]", async () => {
    await using other = await startGateway({ config: CONFIG });
    const url = `${other.origin}/echo/mcp`;
    const put = await api("PUT", "/api/servers/far", { url });
    expect(put).toMatchObject({ status: 200, body: { id: "far", origin: "api", table: { url } } });
    const session = await openSession(`${gateway.origin}/far/mcp`);
    const called = await post(`${gateway.origin}/far/mcp`, toolCall(1, "who", {}), session);
    expect(called.messages[0]?.result).toMatchObject({ content: [{ type: "text" }] });
    expect((await api("GET", "/api/servers/far")).body).toMatchObject({ status: "ok", tools: 3 });
    expect((await api("DELETE", "/api/servers/far")).status).toBe(204);
    expect((await api("GET", "/api/servers/far")).status).toBe(404);
    expect((await fetch(`${gateway.origin}/far/mcp`, { method: "POST" })).status).toBe(404);
  });

  test("is refused where the config has one of its id, where it would start a program, and where it holds a secret", async () => {
    const url = "http://127.0.0.1:9/mcp";
    expect((await api("PUT", "/api/servers/echo", { url })).status).toBe(409);
    expect((await api("DELETE", "/api/servers/echo")).status).toBe(404);
    expect((await api("PUT", "/api/servers/x", { command: "sh" })).status).toBe(422);
    expect((await api("PUT", "/api/servers/x", { url, headers: { Authorization: "Bearer x" } })).status).toBe(422);
    const unset = await api("PUT", "/api/servers/x", { url, headers: { X: { fromEnv: "ISTHMUS_SERVER_NONE" } } });
    expect(unset).toMatchObject({
      status: 422,
      body: { problems: [{ message: expect.stringContaining("ISTHMUS_SERVER_NONE") }] },
    });
    for (const reference of [{ fromEnv: "PATH" }, { fromFile: "/etc/passwd" }]) {
      const refused = await api("PUT", "/api/servers/x", { url, headers: { X: reference } });
      expect(refused.status, JSON.stringify(reference)).toBe(422);
    }
    expect((await api("PUT", "/api/servers/x", { url: "no url" })).status).toBe(422);
    expect((await api("GET", "/api/servers")).body.servers).toHaveLength(1);
  });

  test("is refused with a header that cannot be sent, and nothing of it is kept", async () => {
    const url = "http://127.0.0.1:9/mcp";
    const good = { fromEnv: "ISTHMUS_SERVER_GOOD" };
    const bad = [
      { "X-Bad\n": good },
      { "two words": good },
      { "na\u00efve": good },
      { "Transfer-Encoding": good },
      { "X-Break": { fromEnv: "ISTHMUS_SERVER_BREAK" } },
      { "X-Wide": { fromEnv: "ISTHMUS_SERVER_WIDE" } },
    ];
    const env = {
      ISTHMUS_SERVER_GOOD: "x",
      ISTHMUS_SERVER_BREAK: "hunter2\nX: y",
      ISTHMUS_SERVER_WIDE: "hunter2\u2603",
    };
    await using own = await startGateway({ config: CONFIG, env });
    const ask = apiAt(own.origin, operatorToken(own.program.folder));
    for (const headers of bad) {
      const { status, body } = await ask("PUT", "/api/servers/x", { url, headers });
      expect(status, JSON.stringify(headers)).toBe(422);
      expect(JSON.stringify(body)).not.toContain("hunter2");
      expect((await ask("GET", "/api/servers/x")).status).toBe(404);
    }
    expect((await ask("PUT", "/api/servers/x", { url, headers: { "X-Good": good } })).status).toBe(200);
    expect((await ask("POST", "/api/config/reload")).status).toBeLessThan(300);
  });

  test("is changed by whoever knows its version, and by nobody who knows an older one", async () => {
    const table = { include: ["echo.who"] };
    const first = await api("PUT", "/api/catalogs/few", table);
    const tag = first.headers.get("etag") ?? "";
    const second = await api("PUT", "/api/catalogs/few", { include: ["echo.*"] }, { "if-match": tag });
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await api("PUT", "/api/catalogs/few", table, { "if-match": tag })).status).toBe(412);
    expect(
      (await api("GET", "/api/catalogs/few", undefined, { "if-none-match": second.headers.get("etag") ?? "" })).status,
    ).toBe(304);
    expect((await api("GET", "/api/catalogs/few")).body).toMatchObject({
      origin: "api",
      table: { include: ["echo.*"] },
    });
    expect((await api("DELETE", "/api/catalogs/few")).status).toBe(204);
  });
});

test("what was added by the API is there after a restart", async () => {
  const folder = gateway.program.folder;
  const config = `${CONFIG}\n[database]\nurl = "sqlite:${folder}/added.db"\n`;
  const first = await startGateway({ config });
  expect((await apiAt(first.origin, operatorToken(first.program.folder))("PUT", "/api/catalogs/kept", {})).status).toBe(
    200,
  );
  await first.stop();
  await using again = await startGateway({ config });
  const list = await eventually(
    async () => (await apiAt(again.origin)("GET", "/api/catalogs")).body.catalogs,
    (catalogs: unknown[]) => catalogs.length > 0,
  );
  expect(list).toMatchObject([{ id: "kept", origin: "api" }]);
});

describe("sessions and calls", () => {
  test("are shown while they live, and ended by an operator", async () => {
    const session = await openSession(gateway.url);
    const { id } = (await api("GET", `/api/sessions/${session["mcp-session-id"]}`)).body;
    expect((await api("GET", `/api/sessions/${id}`)).body).toMatchObject({ id, tenant: "default", catalog: "" });
    const waiting = post(gateway.url, toolCall(2, "echo.wait", { ms: 20_000 }), session);
    const [call] = await eventually(
      async () => (await api("GET", "/api/calls")).body.running,
      (running: { callId: string }[]) => running.length > 0,
    );
    expect(call).toMatchObject({ target: "echo/wait", session: id });
    expect((await api("POST", `/api/calls/${call?.callId}/cancel`, { reason: "enough" })).status).toBe(204);
    expect(JSON.stringify((await waiting).messages)).toContain("CANCELLED");
    expect((await api("GET", `/api/calls/${call?.callId}`)).body).toMatchObject({ code: "CANCELLED" });
    expect((await api("DELETE", `/api/sessions/${id}`)).status).toBe(204);
    expect((await post(gateway.url, { id: 3, method: "tools/list" }, session)).status).toBe(404);
    expect((await api("DELETE", `/api/sessions/${id}`)).status).toBe(404);
  });
});

describe("roles and tenants", () => {
  test("a viewer looks, an operator ends, an admin changes, and a caller does none of it", async () => {
    const as = async (role?: string, tenant = "default") =>
      apiAt(gateway.origin, (await makeToken(api, { user: "u", tenant, ...(role && { role }) })).token);
    const [caller, viewer, operator, admin] = [await as(), await as("viewer"), await as("operator"), await as("admin")];
    const asked = async (one: Api) => [
      (await one("GET", "/api/about")).status,
      (await one("GET", "/api/servers")).status,
      (await one("DELETE", "/api/sessions/none")).status,
      (await one("POST", "/api/config/reload")).status,
    ];
    expect(await asked(caller)).toEqual([200, 403, 403, 403]);
    expect(await asked(viewer)).toEqual([200, 200, 403, 403]);
    expect(await asked(operator)).toEqual([200, 200, 404, 403]);
    expect(await asked(admin)).toEqual([200, 200, 404, 204]);
    const other = await as("admin", "other");
    expect(await asked(other)).toEqual([200, 403, 404, 403]);
    expect((await other("GET", "/api/orgs/default/blocks")).status).toBe(403);
    expect((await other("GET", "/api/orgs/other/blocks")).status).toBe(200);
    expect((await other("POST", "/api/revocations", { type: "user", id: "u", tenant: "default" })).status).toBe(403);
    expect((await other("GET", "/api/calls")).body).toEqual({ calls: [], running: [] });
  });

  test("a stranger is told how to become known, as a problem", async () => {
    const answer = await apiAt(gateway.origin, `isth_${"x".repeat(43)}`)("GET", "/api/about");
    expect(answer).toMatchObject({ status: 401, body: { status: 401, code: "NOT_AUTHENTICATED" } });
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.headers.get("www-authenticate")).toContain('error="invalid_token"');
  });
});

test("events tell what operators do, as it happens", async () => {
  const stopped = new AbortController();
  const response = await fetch(`${gateway.origin}/api/events`, { signal: stopped.signal });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const heard = (async () => {
    while (!/catalog\.changed\ndata: .*\n\n/.test(text)) text += (await reader?.read())?.value ?? "";
  })();
  await api("PUT", "/api/catalogs/told", {});
  await heard;
  expect(text).toContain("event: dev.isthmus.catalog.changed\ndata: {");
  await api("DELETE", "/api/catalogs/told");
  stopped.abort();
});

test("metrics tell how long calls were in each stage, and which stage ended them", async () => {
  const session = await openSession(gateway.url);
  await post(gateway.url, toolCall(2, "echo.who", {}), session);
  const text = await (await fetch(`${gateway.origin}/metrics`)).text();
  for (const stage of ["trace", "dispatch", "provider"]) {
    expect(text).toMatch(new RegExp(`isthmus_stage_duration_seconds_count\\{stage="${stage}"\\} [1-9]`));
  }
  expect(text).toMatch(/isthmus_call_duration_seconds_bucket\{server="echo",kind="tool",tool="who",le="\+Inf"\} [1-9]/);
  expect(text).toContain("# TYPE isthmus_stage_ends_total counter");
});
