import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres } from "../../kit/servers/postgres.ts";
import { startRedis } from "../../kit/servers/redis.ts";
import { helloServer, type RunningGateway, startGateway } from "../kit/gateway.ts";
import { operatorToken } from "../kit/operator.ts";
import { partPath } from "../real-parts/part.ts";
import { type Api, apiAt } from "./api.ts";
import { brokenOf, type JsonSchema, NASTY_TEXTS, validOf } from "./schema-arbitrary.ts";

type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
};
type Described = {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: { readonly "application/json": { readonly schema: JsonSchema } };
  };
};
type Target = Described & { readonly method: string; readonly path: string; readonly body: JsonSchema | undefined };

/** ISTHMUS_FUZZ multiplies how often each operation is tried. */
const MORE = Number(process.env.ISTHMUS_FUZZ ?? 1);
/** It never ends by itself. */
const STREAMS = new Set(["events.listen", "logs.listen"]);
const MAX_TIME_MS = 300_000;

const isAnswer = (status: number) => status < 500;
const isRefusal = (status: number) => status >= 400 && status < 500;

type Stores = (stack: AsyncDisposableStack) => Promise<string>;

const inOneFile: Stores = async () => "";

const onServers: Stores = async (stack) => {
  const [redis, postgres] = [await startRedis(), await startPostgres()];
  stack.defer(() => redis.stop());
  stack.defer(() => postgres.stop());
  return `[database]\nurl = ${JSON.stringify(postgres.url)}\n[shared]\nurl = ${JSON.stringify(redis.url)}\n`;
};

/** Path and query with these values in them; undefined where they cannot stand in a URL. */
function urlOf(target: Target, values: Readonly<Record<string, unknown>>): string | undefined {
  const texts = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
  if (Object.values(texts).some((text) => !text.isWellFormed() || text.length > 4_000)) return undefined;
  const path = target.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(texts[name] ?? "x"));
  const query = target.parameters.filter((one) => one.in === "query" && texts[one.name] !== undefined);
  const pairs = query.map(({ name }) => `${name}=${encodeURIComponent(texts[name] ?? "")}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}

function inputOf(target: Target, make: (schema: JsonSchema) => fc.Arbitrary<unknown>) {
  const own = target.parameters.filter((one) => one.in === "path" || one.in === "query");
  const shape = Object.fromEntries(own.map(({ name, schema }) => [name, make(schema)]));
  const requiredKeys = own.filter((one) => one.in === "path").map(({ name }) => name);
  return fc.record({
    values: fc.record(shape, { requiredKeys }),
    body: target.body ? make(target.body) : fc.constant(undefined),
  });
}

describe.each([
  ["SQLite", inOneFile, 60 * MORE],
  ["PostgreSQL and Redis", onServers, 20 * MORE],
])("the API on %s", (_name, storesOf, runs) => {
  const stack = new AsyncDisposableStack();
  let gateway: RunningGateway;
  let api: Api;
  let targets: Target[] = [];
  let sent = 0;

  beforeAll(async () => {
    // On the local user's right: whatever is revoked on the way, it is not that one.
    gateway = await startGateway({
      config: `${await storesOf(stack)}[auth]\ntokens = true\nlocal = true\n${helloServer()}`,
    });
    stack.use(gateway);
    api = apiAt(gateway.origin, operatorToken(gateway.program.folder));
    const { paths } = (await api("GET", "/openapi.json")).body as { paths: Record<string, Record<string, Described>> };
    targets = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, described]) => ({
        ...described,
        method: method.toUpperCase(),
        path,
        body: described.requestBody?.content["application/json"].schema,
      })),
    );
  });
  afterAll(() => stack.disposeAsync());

  async function send(target: Target, values: Readonly<Record<string, unknown>>, body: unknown): Promise<number> {
    const url = urlOf(target, values);
    if (url === undefined) return 0;
    sent++;
    const { status, headers } = await api(target.method, url, body);
    if (status >= 500) throw new Error(`${target.method} ${url} answered ${status}`);
    if (status >= 400) expect(headers.get("content-type")).toBe("application/problem+json");
    return status;
  }

  describe("every operation of the API", () => {
    test("answers whatever its own schema allows, and whatever it does not, and never fails", {
      timeout: MAX_TIME_MS,
    }, async () => {
      const { default: Ajv } = await import(partPath("ajv/dist/2020.js"));
      const ajv = new Ajv({ strict: false, validateFormats: false });
      for (const target of targets.filter(({ operationId }) => !STREAMS.has(operationId))) {
        const isAllowed = target.body ? ajv.compile(target.body) : () => true;
        for (const make of [validOf, brokenOf]) {
          await fc.assert(
            fc.asyncProperty(inputOf(target, make), async ({ values, body }) => {
              const status = await send(target, values, body);
              // What the description forbids is never taken.
              const isForbidden = target.body !== undefined && !isAllowed(JSON.parse(JSON.stringify(body ?? null)));
              if (isForbidden && status !== 0) expect(status).toSatisfy(isRefusal);
            }),
            { numRuns: runs, seed: 6 },
          );
        }
      }
      expect(sent).toBeGreaterThan(targets.length * runs);
    });

    test("refuses bodies that are no honest JSON, whatever they are sent to", async () => {
      const deep = (open: string, close: string, count: number) => `${open.repeat(count)}1${close.repeat(count)}`;
      const bodies = [
        ...["", "{", "[", "nul", "\u0000", "{}{}", "{'a':1}", '{"a":1,}', '"\\ud800"', '{"a":NaN}', "﻿{}"],
        ...[
          '{"a":1e400}',
          `{"a":${"9".repeat(5_000)}}`,
          '{"a":1,"a":2}',
          '{"a":{"b":1,"\\u0062":2}}',
          "-",
          "1e",
          "[1e999]",
        ],
        ...[deep("[", "]", 127), deep("[", "]", 129), deep('{"a":', "}", 50_000), deep("[", "]", 400_000)],
        ...[`"${"x".repeat(900_000)}"`, `[${"{},".repeat(200_000)}{}]`, `{"a":"${"y".repeat(2_000_000)}"}`],
      ];
      for (const target of targets.filter(({ requestBody }) => requestBody?.required)) {
        for (const body of bodies) {
          const { status } = await api(target.method, target.path.replaceAll(/\{\w+\}/g, "default"), body, {
            "content-type": "application/json",
          });
          expect([target.operationId, status, body.slice(0, 20)]).toEqual([
            target.operationId,
            expect.toSatisfy(isRefusal),
            body.slice(0, 20),
          ]);
        }
      }
    });

    test("keeps texts that look like commands as texts", async () => {
      const wellFormed = NASTY_TEXTS.filter(
        (text) => text !== "" && text.length <= 256 && text.isWellFormed() && !text.includes("\0"),
      );
      for (const id of wellFormed) {
        expect((await api("POST", "/api/revocations", { type: "user", id, reason: id })).status).toBe(201);
      }
      const { blocks } = (await api("GET", "/api/orgs/default/blocks")).body as { blocks: { key: string }[] };
      expect(blocks.map(({ key }) => key)).toEqual(expect.arrayContaining(wellFormed));
      expect((await api("POST", "/api/revocations", { type: "user", id: "a\0b" })).status).toBe(422);
    });
  });

  describe("what is costly to judge", () => {
    const bomb = `${"*a".repeat(60)}b`;

    test("a pattern that could be tried in very many ways is judged at once, and refused where it is no pattern", async () => {
      const target = { type: "user", idOrPattern: bomb };
      const primitive = { name: bomb, protocol: "mcp" };
      const put = await api("PUT", "/api/policy/orgs/default/bindings", { target, primitive, allowed: false });
      expect(put.status).toBe(200);
      const victim = "a".repeat(250);
      const query = `user=${victim}&server=hello&primitive=hello.${victim}&protocol=mcp`;
      expect((await api("GET", `/api/policy/orgs/default/decision?${query}`)).status).toSatisfy(isAnswer);
      const removed = await api("DELETE", `/api/policy/orgs/default/bindings/${encodeURIComponent(put.body.id)}`);
      expect(removed.status).toSatisfy(isAnswer);
    });

    test("a policy that is larger than anybody needs is refused as a whole", async () => {
      const entry = { selector: { primitive: "x" }, policy: { capacity: 1, refill: "1/s" } };
      const all = Array.from({ length: 12_000 }, (_, at) => ({ ...entry, selector: { primitive: `tool-${at}` } }));
      const { status } = await api("PUT", "/api/ratelimits/orgs/default", all);
      expect(status).toSatisfy(isRefusal);
      const many = { include: Array.from({ length: 1_001 }, () => "*") };
      expect((await api("PUT", "/api/catalogs/many", many)).status).toBe(422);
    });

    test("a schema cannot be brought along: references and patterns in bodies are data", async () => {
      const bodies = [{ $ref: "#" }, { $ref: "http://127.0.0.1:9/" }, { pattern: "(a+)+$", const: "a".repeat(50_000) }];
      for (const body of bodies) expect((await api("PUT", "/api/catalogs/x", body)).status).toBe(422);
    });
  });

  test("after all of it the gateway serves, and has found no fault in itself", async () => {
    expect((await api("GET", "/api/about")).status).toBe(200);
    expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
    expect(gateway.program.stderr.split("\n").filter((line) => line.includes("operation failed"))).toEqual([]);
  });
});
