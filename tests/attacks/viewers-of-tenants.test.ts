/** A tenant's viewers look for what is not theirs: the numbers of all tenants, and what there is for others. */
import { request } from "node:http";
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[access.exposure]]
server = "hello"
primitive = "count"
enabled = false
tenant = "acme"
[[access.exposure]]
server = "secret"
enabled = false
tenant = "acme"
${helloServer()}
${helloServer("secret")}`;

const user = (tenant: string, name: string, ...more: string[]) => ["--user", name, "--tenant", tenant, ...more];
const tokens = {
  root: ["--user", "root", "--role", "admin"],
  vic: user("acme", "vic", "--role", "viewer"),
  boss: user("acme", "boss", "--role", "admin"),
  ann: user("acme", "ann"),
  other: user("globex", "other", "--role", "viewer"),
};

/** What only the platform's people may read has these in it. */
const METRIC = "isthmus_";
/** What the platform has switched off for the viewer's tenant alone. */
const HIDDEN = /secret|hello\.count/;
const REGISTRY = "/api/registry/orgs";

type Answer = { readonly status: number; readonly text: string };
/** The path as it is: fetch would tidy it. */
function ask(origin: string, method: string, path: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const sent = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

describeAttacks("a tenant's viewer", { config, tokens }, (field) => {
  const everywhere = Array.from({ length: field.processes }, (_none, at) => at);
  const asEach = (who: string, method: string, path: string) =>
    Promise.all(everywhere.map((at) => ask(field.origin(at), method, path, field.as(who))));

  test.each<[string, string, string, number]>([
    ["as they are", "GET", "/metrics", 403],
    ["by their head", "HEAD", "/metrics", 403],
    ["by POST", "POST", "/metrics", 403],
    ["of another tenant", "GET", "/metrics?tenant=default", 403],
    ["with an empty query", "GET", "/metrics?", 403],
    ["with the address before them", "GET", "http://localhost/metrics", 400],
    ["with a slash behind", "GET", "/metrics/", 404],
    ["with two slashes", "GET", "//metrics", 404],
    ["escaped", "GET", "/%6detrics", 404],
    ["in capitals", "GET", "/Metrics", 404],
    ["by a dot segment", "GET", "/x/../metrics", 404],
    ["by a dot segment behind them", "GET", "/metrics/.", 404],
    ["by a dot segment out of the API", "GET", "/api/../metrics", 404],
    ["by the API", "GET", "/api/metrics", 404],
    ["as a catalog", "GET", "/metrics/mcp", 404],
    ["with parameters", "GET", "/metrics;a=b", 404],
  ])("reads no numbers of all %s", async (_how, method, path, status) => {
    for (const who of ["vic", "boss", "ann"]) {
      for (const { status: said, text } of await asEach(who, method, path)) {
        expect([who, said]).toEqual([who, status]);
        expect(text).not.toContain(METRIC);
      }
    }
  });

  test("does not keep the platform's from reading them", async () => {
    for (const { status, text } of await asEach("root", "GET", "/metrics")) {
      expect([status, text]).toEqual([200, expect.stringContaining(METRIC)]);
    }
  });

  test.each<[string, string, string, number]>([
    ["of the platform", "GET", `${REGISTRY}/default/primitives`, 403],
    ["of another tenant", "GET", `${REGISTRY}/globex/primitives`, 403],
    ["of another tenant, by its head", "HEAD", `${REGISTRY}/globex/primitives`, 403],
    ["of all tenants", "GET", `${REGISTRY}/*/primitives`, 403],
    ["of all tenants, escaped", "GET", `${REGISTRY}/%2a/primitives`, 403],
    ["of another tenant, escaped", "GET", `${REGISTRY}/g%6cobex/primitives`, 403],
    ["of another tenant, escaped twice", "GET", `${REGISTRY}/g%256cobex/primitives`, 403],
    ["of its own in capitals", "GET", `${REGISTRY}/Acme/primitives`, 403],
    ["of its own with something behind", "GET", `${REGISTRY}/acme%00/primitives`, 403],
    ["of nobody", "GET", `${REGISTRY}//primitives`, 404],
    ["by a dot segment", "GET", `${REGISTRY}/acme/../globex/primitives`, 404],
    ["by an escaped dot segment", "GET", `${REGISTRY}/acme%2f..%2fglobex/primitives`, 403],
    ["with a slash behind", "GET", `${REGISTRY}/globex/primitives/`, 404],
    ["in capitals", "GET", `/API/registry/orgs/globex/primitives`, 404],
    ["of its own, with another's name in the query", "GET", `${REGISTRY}/acme/primitives?orgId=globex`, 200],
    ["of its own, with a tenant in the query", "GET", `${REGISTRY}/acme/primitives?tenant=globex`, 422],
    ["of its own, escaped", "GET", `${REGISTRY}/%61cme/primitives`, 200],
    ["of its own", "GET", `${REGISTRY}/acme/primitives`, 200],
  ])("reads in the registry %s nothing that is not there for it", async (_how, method, path, status) => {
    for (const who of ["vic", "boss"]) {
      for (const { status: said, text } of await asEach(who, method, path)) {
        expect([who, said]).toEqual([who, status]);
        expect(text).not.toMatch(HIDDEN);
        if (status === 200) expect(text).toContain("hello.greet");
      }
    }
    // Without a role there is nothing to see.
    for (const { status: said } of await asEach("ann", method, path)) expect(said).toBe(status === 404 ? 404 : 403);
  });

  test("of another tenant is told what there is for that one", async () => {
    for (const { status, text } of await asEach("other", "GET", `${REGISTRY}/globex/primitives`)) {
      expect([status, text]).toEqual([200, expect.stringMatching(HIDDEN)]);
    }
  });
});
