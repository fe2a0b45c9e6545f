import { describe, expect, test } from "vitest";
import { checkReload, compareConfigs } from "./check-reload.ts";
import type { Config } from "./config.ts";
import { loadConfig } from "./load-config.ts";
import { Secret } from "./secret.ts";

const KEY = "k".repeat(32);
const crm = { id: "crm", url: "http://127.0.0.1/mcp", headers: { A: { fromEnv: "A" } } };

function load(table: Record<string, unknown>, env: Record<string, string> = { A: "1", KEY }): Config {
  return loadConfig({ table, originOf: () => undefined, files: [] }, { env });
}

describe("compareConfigs", () => {
  const changes = (before: Record<string, unknown>, after: Record<string, unknown>, env?: Record<string, string>) =>
    compareConfigs(load({ servers: [before] }), load({ servers: [after] }, env)).changed;

  test("tells which servers come, go and change, and which settings", () => {
    const before = load({ servers: [crm, { id: "gone", command: "x" }] });
    const after = load({
      gateway: { pageSize: 3 },
      servers: [
        { id: "fresh", command: "x" },
        { ...crm, concurrency: 3 },
      ],
    });
    expect(compareConfigs(before, after)).toEqual({
      added: ["fresh"],
      changed: ["crm"],
      removed: ["gone"],
      settings: ["pageSize"],
    });
  });

  test.each([
    ["gate.mode", { gate: { mode: "strict" } }],
    ["gate.hold", { gate: { hold: "3s" } }],
    ["limits", { limits: [{ concurrency: 3 }] }],
    ["access.grants", { access: { grants: [{ agent: "ada", server: "crm" }] } }],
    ["access.defaultPolicy", { access: { defaultPolicy: "opt-in" } }],
    ["catalogs", { catalogs: [{ id: "work" }] }],
    ["servers.crm.timeout", { servers: [{ ...crm, timeout: "1s" }] }],
    ["maxBody", { gateway: { maxBody: "1MiB" } }],
  ])("names %s among the settings, also where no server changes", (name, table) => {
    const [before, after] = [load({ servers: [crm] }), load({ servers: [crm], ...table })];
    const nothing = { added: [], changed: [], removed: [] };
    expect(compareConfigs(before, after)).toEqual({ ...nothing, settings: [name] });
    expect(compareConfigs(after, before)).toEqual({ ...nothing, settings: [name] });
    expect(compareConfigs(after, after).settings).toEqual([]);
  });

  test("finds a server the same, however its keys are ordered", () => {
    expect(changes(crm, { headers: crm.headers, url: crm.url, id: "crm" })).toEqual([]);
  });

  test("finds it changed when a secret has another value, or MGP's table", () => {
    expect(changes(crm, crm, { A: "2" })).toEqual(["crm"]);
    expect(changes(crm, { ...crm, mgp: { trust_level: "trusted" } })).toEqual(["crm"]);
  });

  test("does not count the time for its calls, which changes in place", () => {
    expect(changes(crm, { ...crm, timeout: "1s" })).toEqual([]);
  });
});

describe("checkReload", () => {
  const gateway = { listen: "127.0.0.1:1", sealKey: { fromEnv: "KEY" } };

  test("refuses other ways to be known, and TLS that comes or goes", () => {
    const tokens = load({ auth: { tokens: true }, database: { url: "sqlite:/tmp/x.db" } });
    const local = load({ auth: { tokens: true, local: true }, database: { url: "sqlite:/tmp/x.db" } });
    expect(checkReload(tokens, local).map(({ path }) => path.join("."))).toEqual(["auth"]);
    const plain = load({});
    const tls = { cert: new Secret("c"), key: new Secret("k") };
    const secure = { ...plain, gateway: { ...plain.gateway, tls } };
    expect(checkReload(plain, secure).map(({ path }) => path.join("."))).toEqual(["gateway.tls"]);
    const renewed = { ...plain, gateway: { ...plain.gateway, tls: { ...tls, cert: new Secret("d") } } };
    expect(checkReload(secure, renewed)).toEqual([]);
  });

  test("refuses another store by its name, and lets one follow the state folder from the next start on", () => {
    const paths = (before: object, after: object) =>
      checkReload(load({ ...before }), load({ ...after })).map(({ path }) => path.join("."));
    expect(paths({}, { gateway: { state: "/tmp/elsewhere" } })).toEqual([]);
    expect(paths({}, { database: { url: "sqlite:/tmp/x.db" } })).toEqual(["database"]);
    const postgres = { database: { url: "postgres://db/x" } };
    expect(paths(postgres, { ...postgres, shared: { url: "redis://r/0" } })).toEqual(["shared"]);
    expect(paths(postgres, { ...postgres, cluster: { lease: "3s" } })).toEqual(["cluster"]);
  });

  test("lets everything change that the fronts read with each request", () => {
    const next = {
      ...gateway,
      sessions: "stateful",
      allowedHosts: ["a"],
      allowedOrigins: ["http://a"],
      trustedProxies: ["::1"],
      pageSize: 3,
      maxBody: "1MiB",
      timeout: "1s",
      drain: "1s",
    };
    expect(checkReload(load({ gateway }), load({ gateway: next }))).toEqual([]);
    expect(compareConfigs(load({ gateway }), load({ gateway: next })).settings).toHaveLength(8);
  });

  test.each([
    ["listen", { ...gateway, listen: "127.0.0.1:2" }],
    ["sse", { ...gateway, sse: true }],
    ["logLevel", { ...gateway, logLevel: "debug" }],
    ["sealKey", { listen: gateway.listen }],
  ])("says that %s needs a restart", (key, next) => {
    const text = "cannot change while the gateway runs; restart to change it";
    expect(checkReload(load({ gateway }), load({ gateway: next }))).toEqual([{ path: ["gateway", key], text }]);
  });

  test("compares the seal key by what it holds, without showing it", () => {
    const problems = checkReload(load({ gateway }), load({ gateway }, { KEY: "x".repeat(32) }));
    expect(problems).toHaveLength(1);
    expect(JSON.stringify(problems)).not.toContain("xxx");
  });
});
