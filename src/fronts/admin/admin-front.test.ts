import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  contentDigest,
  GatewayError,
  identityOf,
  LOCAL,
  type Operation,
  type Principal,
  type Role,
} from "../../contract/index.ts";
import { operation, schemaOf } from "../../mechanisms/schemas/index.ts";
import { type Asking, frontRig } from "./fixtures/exchange.ts";

const thing = z.strictObject({ name: z.string().min(1), count: z.int().optional() });

/** Keeps one thing, in one version after the other. */
function thingOperations(heard: unknown[] = []): readonly Operation[] {
  let version = 1;
  return [
    operation({
      id: "things.get",
      method: "GET",
      path: "/api/orgs/{orgId}/things/{id}",
      summary: "One thing.",
      role: "viewer",
      input: schemaOf(z.strictObject({ orgId: z.string(), id: z.string(), verbose: z.string().optional() })),
      output: schemaOf(z.object({ id: z.string() })),
      run: async (input) => {
        heard.push(input);
        return { body: { id: input.id }, etag: String(version) };
      },
    }),
    operation({
      id: "things.put",
      method: "PUT",
      path: "/api/orgs/{orgId}/things/{id}",
      summary: "Changes a thing.",
      role: "operator",
      input: schemaOf(z.strictObject({ orgId: z.string(), id: z.string(), body: thing })),
      output: schemaOf(thing),
      run: async (input, { ifMatch }) => {
        if (ifMatch !== undefined && ifMatch !== String(version)) throw new GatewayError("CONFLICT");
        version++;
        heard.push(input);
        return { body: input.body, etag: String(version) };
      },
    }),
    operation({
      id: "things.fail",
      method: "POST",
      path: "/api/fail/{how}",
      summary: "Fails.",
      role: "caller",
      input: schemaOf(z.strictObject({ how: z.string() })),
      run: async ({ how }) => {
        if (how === "defect" || how.startsWith("isth_")) throw new Error("password=hunter2");
        if (how === "unmatched") throw new GatewayError("CONFLICT", { details: { missing: "If-Match" } });
        throw new GatewayError(how as "LIMITED", { details: { retryAfterMs: 1_500 } });
      },
    }),
    operation({
      id: "things.ask",
      method: "POST",
      path: "/api/ask",
      summary: "Asks about oneself.",
      role: "caller",
      input: schemaOf(z.strictObject({ body: thing })),
      output: schemaOf(thing),
      run: async ({ body }) => ({ body }),
    }),
    operation({
      id: "things.look",
      method: "POST",
      path: "/api/look",
      summary: "Looks at something.",
      role: "viewer",
      input: schemaOf(z.strictObject({ body: thing })),
      output: schemaOf(thing),
      run: async ({ body }) => ({ body }),
    }),
    operation({
      id: "events",
      method: "GET",
      path: "/api/events",
      summary: "Events.",
      role: "viewer",
      isStream: true,
      input: schemaOf(z.strictObject({})),
      run: async () => ({
        events(write, signal) {
          write("hello", '{"a":\n1}');
          signal.addEventListener("abort", () => heard.push("stopped"));
        },
      }),
    }),
  ];
}

const URL = "/api/orgs/default/things/a%2Fb";

function somebody(role: Role | undefined, tenant = "default"): Principal {
  return {
    id: "x",
    identity: { tenant, user: "u", client: "c", groups: [], scopes: [], role, proof: "token" },
  };
}

function rig() {
  const heard: unknown[] = [];
  const { ask, front, time, log, refused } = frontRig(thingOperations(heard));
  const status = async (url: string, asking?: Asking) => (await ask(url, asking)).status;
  const problem = async (url: string, asking?: Asking) => {
    const { text, lines } = await ask(url, asking);
    return { ...(JSON.parse(text) as Record<string, unknown>), lines };
  };
  return { ask, front, time, log, refused, heard, status, problem };
}

describe("the admin front", () => {
  test("gives an operation what stands in the path, the query and the body", async () => {
    const { ask, heard } = rig();
    await ask(`${URL}?verbose=yes%20please`);
    await ask(URL, { method: "PUT", body: '{"name":"ö","count":2}' });
    expect(heard).toEqual([
      { orgId: "default", id: "a/b", verbose: "yes please" },
      { orgId: "default", id: "a/b", body: { name: "ö", count: 2 } },
    ]);
  });

  test("answers with the version, and not at all again where it is known", async () => {
    const { ask, status } = rig();
    const { lines, text } = await ask(URL);
    expect(lines).toContain('ETag: "1"');
    expect(JSON.parse(text)).toEqual({ id: "a/b" });
    expect(await status(URL, { headers: { "if-none-match": '"0", W/"1"' } })).toBe(304);
    expect(await status(URL, { method: "HEAD" })).toBe(200);
  });

  test("refuses a change of what is another version by now with 412", async () => {
    const { ask, status } = rig();
    const put = (tag: string) => ({ method: "PUT", body: '{"name":"x"}', headers: { "if-match": tag } });
    expect((await ask(URL, put('"1"'))).lines).toContain('ETag: "2"');
    expect(await status(URL, put('"1"'))).toBe(412);
    expect(await status(URL, put("*"))).toBe(200);
    expect(await status(URL, put('W/"3"'))).toBe(400);
    expect(await status(URL, { ...put('"4"'), headers: { "if-none-match": "*" } })).toBe(400);
  });

  test.each([
    ["is no JSON", "{", 400],
    ["repeats a key", '{"name":"a","name":"b"}', 400],
    ["repeats a key in another spelling", '{"name":"a","n\\u0061me":"b"}', 400],
    ["is nested too deep", `${'{"a":'.repeat(160)}1${"}".repeat(160)}`, 400],
    ["is not UTF-8", undefined, 400],
    ["is missing", "", 400],
    ["is larger than allowed", `{"name":"${"x".repeat(2_000)}"}`, 413],
    ["has a key that nobody knows", '{"name":"a","nmae":"b"}', 422],
    ["would change the prototype", '{"name":"a","__proto__":{"count":1}}', 422],
    ["has another type", '{"name":1}', 422],
  ])("refuses a body that %s", async (_what, body, expected) => {
    const { ask, heard } = rig();
    const text = body ?? '{"name":"\xff"}';
    const asking = { method: "PUT", ...(text !== "" && { body: text }) };
    const answer = await ask(URL, { ...asking, isRaw: body === undefined });
    expect(answer.status).toBe(expected);
    expect(answer.lines).toContain("application/problem+json");
    expect(heard).toEqual([]);
  });

  test("refuses a body that is another one than its digest is of", async () => {
    const { status, heard } = rig();
    const digest = contentDigest('{"name":"ö"}', "utf8");
    const put = (body: string) => status(URL, { method: "PUT", body, headers: { "content-digest": digest } });
    expect(await put('{"name":"o"}')).toBe(400);
    expect(heard).toEqual([]);
    expect(await put('{"name":"ö"}')).toBe(200);
  });

  test("says what is wrong where", async () => {
    expect(await rig().problem(URL, { method: "PUT", body: '{"name":""}' })).toMatchObject({
      status: 422,
      title: "Unprocessable Content",
      code: "BAD_CALL",
      instance: URL,
      problems: [{ path: "/body/name" }],
    });
  });

  test("knows 404, 405 with what is allowed, 406 and 415", async () => {
    const { problem, status } = rig();
    expect(await status("/api/nothing")).toBe(404);
    expect(await status("/api/orgs/%ff/things/x")).toBe(404);
    expect(await problem(URL, { method: "DELETE" })).toMatchObject({
      status: 405,
      lines: expect.stringContaining("Allow: GET, PUT, HEAD"),
    });
    expect(await status(URL, { headers: { accept: "text/html" } })).toBe(406);
    expect(await status(URL, { headers: { accept: "text/html, */*;q=0.1" } })).toBe(200);
    expect(await status(URL, { headers: { accept: "application/json;q=0" } })).toBe(406);
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(await status(URL, { method: "PUT", body: "name=a", headers: form })).toBe(415);
  });

  test("reads YAML only for operations that need a role, and says so in the description", async () => {
    const { ask, status } = rig();
    const yaml = { method: "POST", body: "name: a", headers: { "content-type": "application/yaml" } };
    const refused = await ask("/api/ask", { ...yaml, principal: somebody(undefined) });
    expect([refused.status, refused.lines]).toEqual([415, expect.stringContaining("Accept: application/json\r\n")]);
    expect(await status("/api/ask", { ...yaml, principal: somebody("admin") })).toBe(415);
    expect(await status("/api/ask", { method: "POST", body: '{"name":"a"}', principal: somebody(undefined) })).toBe(
      200,
    );
    expect(await status("/api/look", { ...yaml, principal: somebody("viewer") })).toBe(200);
    const { paths } = JSON.parse((await ask("/openapi.json")).text) as {
      paths: Record<string, Record<string, { requestBody?: { content: object } }>>;
    };
    const typesOf = (path: string) => Object.keys(paths[path]?.post?.requestBody?.content ?? {});
    expect(typesOf("/api/ask")).toEqual(["application/json"]);
    expect(typesOf("/api/look")).toEqual(["application/json", "application/yaml"]);
  });

  test("refuses query parameters that repeat, that nobody knows, or that would be the body", async () => {
    const { status } = rig();
    expect(await status(`${URL}?verbose=1&verbose=2`)).toBe(400);
    expect(await status(`${URL}?body=1`)).toBe(400);
    expect(await status(`${URL}?other=1`)).toBe(422);
    expect(await status(`${URL}?__proto__=1`)).toBe(422);
    expect(await status(`${URL}?id=other`)).toBe(200);
    expect(await status(`${URL}?verbose=%00`)).toBe(400);
    expect(await status("/api/orgs/default/things/a%00")).toBe(400);
  });

  test("lets each role do what the former may, and nobody what is another tenant's", async () => {
    const { status } = rig();
    const put = (principal: Principal) => status(URL, { method: "PUT", body: '{"name":"a"}', principal });
    expect(await status(URL, { principal: somebody(undefined) })).toBe(403);
    expect(await status(URL, { principal: somebody("viewer") })).toBe(200);
    expect(await put(somebody("viewer"))).toBe(403);
    expect(await put(somebody("admin"))).toBe(200);
    expect(await put(somebody("admin", "other"))).toBe(403);
    const other = "/api/orgs/other/things/x";
    expect(await status(other, { principal: somebody("viewer", "other") })).toBe(200);
    expect(await status(other, { principal: somebody("viewer") })).toBe(200);
    expect(await status(other, { principal: somebody("viewer", "third") })).toBe(403);
  });

  test("lets whoever is on this machine look, and only who has shown a token change anything", async () => {
    const { ask, status } = rig();
    const change = { method: "PUT", body: '{"name":"x"}' };
    expect(await status(URL, { principal: LOCAL })).toBe(200);
    const refused = await ask(URL, { ...change, principal: LOCAL });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("isthmus operator token")]);
    expect(await status(URL, { ...change, principal: somebody("operator") })).toBe(200);
  });

  test("keeps pages of other sites out, whatever they ask for", async () => {
    const headers = { origin: "https://elsewhere.example" };
    const { status } = rig();
    expect(await status(URL, { headers })).toBe(403);
    expect(await status("/openapi.json", { headers })).toBe(403);
  });

  test("has nothing put on record that opens the page of an approval", async () => {
    const { ask, refused } = rig();
    const id = "0f8fad5b-d9cb-469f-a165-70867728950e";
    await ask(`/api/approvals/${id}.${"s".repeat(43)}`, { headers: { origin: "https://elsewhere.example" } });
    expect(refused.map(({ name }) => name)).toEqual([`GET /api/approvals/${id}`]);
  });

  test("has put on record what a tenant's people ask for and is not there, or not theirs, and not what the platform's do", async () => {
    const { ask, refused } = rig();
    const miss = (tenant?: string) =>
      ask("/api/fail/NO_SUCH_TARGET", { method: "POST", principal: somebody("admin", tenant) });
    expect((await miss("acme")).status).toBe(404);
    expect((await miss()).status).toBe(404);
    await ask("/api/nowhere", { principal: somebody("admin", "acme") });
    expect(refused.map(({ reason, name }) => [reason, name])).toEqual([["target", "POST /api/fail/NO_SUCH_TARGET"]]);
  });

  test("turns failures into statuses, and says nothing of a defect's cause", async () => {
    const { problem } = rig();
    const fail = (how: string) => problem(`/api/fail/${how}`, { method: "POST" });
    expect(await fail("STATE_UNAVAILABLE")).toMatchObject({ status: 503, code: "STATE_UNAVAILABLE" });
    expect(await fail("LIMITED")).toMatchObject({ status: 429, lines: expect.stringContaining("Retry-After: 2") });
    expect(await fail("unmatched")).toMatchObject({ status: 428 });
    expect(await fail("CONFLICT")).toMatchObject({ status: 409 });
    const defect = await fail("defect");
    expect(defect).toMatchObject({ status: 500, code: "INTERNAL" });
    expect(JSON.stringify(defect)).not.toContain("hunter2");
  });

  test("logs where a defect was met, but no token that stands there", async () => {
    const { ask, log } = rig();
    for (const how of ["defect", "isth_ABCDEFGHIJKLMNOPQRSTUV"]) await ask(`/api/fail/${how}`, { method: "POST" });
    expect(log.lines.map(({ fields }) => fields.path)).toEqual(["/api/fail/defect", "[redacted]"]);
  });

  test("sends events until nobody listens, or the caller may not any more", async () => {
    const { ask, front, heard, time } = rig();
    const left = await ask("/api/events");
    expect(left.text).toContain('event: hello\ndata: {"a":\ndata: 1}\n\n');
    left.close();
    expect(heard).toEqual(["stopped"]);
    const dropped = await ask("/api/events", { headers: { accept: "text/event-stream" } });
    time.advance(15_001);
    expect(dropped.text.match(/: \n\n/g)).toHaveLength(2);
    front.drop(() => true);
    front.close();
    expect(heard).toEqual(["stopped", "stopped"]);
    expect(time.pending).toBe(0);
  });

  test("has a bound on open streams, of which one caller gets a quarter, and says so", async () => {
    const { ask, problem, front } = rig();
    const by = (id: string) => {
      const identity = { ...identityOf(somebody("viewer")), tenant: "default", user: id };
      return { principal: { id, identity } };
    };
    const open = await Promise.all(Array.from({ length: 64 }, () => ask("/api/events", by("ann"))));
    expect(open.every(({ status }) => status === 200)).toBe(true);
    const full = {
      status: 429,
      code: "OVERLOADED",
      detail: expect.stringContaining("Too many streams of events of yours"),
    };
    expect(await problem("/api/events", by("ann"))).toMatchObject(full);
    open[0]?.close();
    expect((await ask("/api/events", by("ann"))).status).toBe(200);
    for (const id of ["bob", "carl", "dora"])
      await Promise.all(Array.from({ length: 64 }, () => ask("/api/events", by(id))));
    const all = { status: 429, detail: expect.stringContaining("Too many streams of events are open") };
    expect(await problem("/api/events", by("eve"))).toMatchObject(all);
    front.drop(({ id }) => id === "bob");
    expect((await ask("/api/events", by("eve"))).status).toBe(200);
  });

  test("describes every operation, and nothing else, for everybody who may ask", async () => {
    const { text } = await rig().ask("/openapi.json", { principal: somebody(undefined) });
    const { paths, openapi } = JSON.parse(text) as { openapi: string; paths: Record<string, Record<string, object>> };
    expect(openapi).toBe("3.1.0");
    const described = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described).toEqual(thingOperations().map(({ method, path }) => `${method} ${path}`));
    expect(paths["/api/orgs/{orgId}/things/{id}"]?.put).toMatchObject({
      operationId: "things.put",
      "x-role": "operator",
      parameters: [
        { name: "orgId", in: "path" },
        { name: "id", in: "path" },
        { name: "If-Match", in: "header" },
      ],
      requestBody: { required: true },
    });
  });

  test("cannot be made of two operations at one place", () => {
    expect(() => frontRig([...thingOperations(), ...thingOperations()])).toThrow("two operations are served at GET");
  });
});
