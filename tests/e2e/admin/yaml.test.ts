/** Bodies of the API in YAML, by the built program. */
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { helloServer, type RunningGateway, startGateway } from "../kit/gateway.ts";
import { operatorToken } from "../kit/operator.ts";
import { type Api, apiAt } from "./api.ts";

const { publicKey } = generateKeyPairSync("ed25519");
const feed = `[[auth.revocationFeeds]]\nid = "hub"\nkeys = ["""\n${publicKey.export({ type: "spki", format: "pem" })}"""]\n`;
const YAML = { "content-type": "application/yaml" };

let gateway: RunningGateway;
let api: Api;

beforeAll(async () => {
  gateway = await startGateway({ config: `${helloServer()}${feed}` });
  api = apiAt(gateway.origin, operatorToken(gateway.program.folder));
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

test.each<[string, string, unknown]>([
  [
    "/api/ratelimits/orgs/default",
    "- selector: { server: '*', user: '*' }\n  policy: { type: token-bucket, capacity: 1000, refill: 100/s }\n",
    [{ selector: { server: "*", user: "*" }, policy: { type: "token-bucket", capacity: 1000, refill: "100/s" } }],
  ],
  [
    "/api/policy/orgs/default/exposure",
    "server: hello\nprotocol: a2a\nenabled: false\n",
    { server: "hello", protocol: "a2a", enabled: false },
  ],
  [
    "/api/policy/orgs/default/bindings",
    "# nobody\ntarget: { type: wcit, idOrPattern: 7d1f* }\nprimitive:\n  name: hello.greet\n  protocol: mcp\nallowed: false\n",
    {
      target: { type: "wcit", idOrPattern: "7d1f*" },
      primitive: { name: "hello.greet", protocol: "mcp" },
      allowed: false,
    },
  ],
])("%s takes YAML as it takes JSON [AP-531]", async (path, text, json) => {
  const plain = ({ updatedAt: _updatedAt, ...rest }: Record<string, unknown>) => rest;
  const same = (body: unknown) => (Array.isArray(body) ? body : plain(body as Record<string, unknown>));
  const written = await api("PUT", path, text, YAML);
  expect(written.status).toBe(200);
  expect(same(written.body)).toEqual(same((await api("PUT", path, json)).body));
  const inOtherWords = await api("PUT", path, text, { "content-type": "text/yaml; charset=utf-8" });
  expect(inOtherWords.status).toBe(200);
});

test.each<[string, string, number]>([
  ["a billion laughs", `a: &a [x,x]\nb: [${Array(99).fill("*a").join(",")}]`, 400],
  ["something deep", "[".repeat(90_000), 400],
  ["something huge", "x".repeat(300_000), 413],
  ["a repeated key", "server: a\nserver: b\nprotocol: mcp\nenabled: true", 400],
  ["what is no YAML", "server: [", 400],
  ["what the schema does not know", "server: hello\nprotocol: mcp\nenabled: yes\n", 422],
])("%s is refused, and the gateway goes on", async (_what, text, status) => {
  const answer = await api("PUT", "/api/policy/orgs/default/exposure", text, YAML);
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  if (status === 400) expect(answer.body).toMatchObject({ line: expect.any(Number), column: expect.any(Number) });
  expect((await api("GET", "/api/policy/orgs/default/exposure")).status).toBe(200);
});

test("other types are refused, and the answer names both that are taken", async () => {
  const answer = await api("PUT", "/api/ratelimits/orgs/default", "- a", { "content-type": "text/plain" });
  expect(answer.status).toBe(415);
  expect(answer.headers.get("accept")).toBe("application/json, application/yaml");
});

test("YAML is not read for those who are not known", async () => {
  const answer = await api("POST", "/api/revocations/signed", "a: 1", YAML);
  expect(answer.status).toBe(415);
  expect(answer.headers.get("accept")).toBe("application/json");
});
