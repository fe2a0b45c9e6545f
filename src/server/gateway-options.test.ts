import { expect, test } from "vitest";
import type { HttpRequest } from "../contract/index.ts";
import { createGate } from "../fronts/mcp/index.ts";
import { loadConfig } from "./config/load-config.ts";
import { frontConfig } from "./gateway-options.ts";

const AUTH = { resource: "https://gateway.example", issuers: [{ url: "https://login.example" }] };

test.each([
  ["10.0.0.5:7411", "10.0.0.5:7411", undefined],
  ["[fd00::1]:7411", "[fd00::1]:7411", undefined],
  ["[fd00::1]:7411", "[fd00::2]:7411", "host"],
  ["0.0.0.0:7411", "10.0.0.5:7411", "host"],
])("a gateway that listens on %s may be called %s without a word in the config: %s", (listen, host, fault) => {
  const table = { gateway: { listen }, auth: AUTH };
  const gate = createGate(frontConfig(loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} })));
  expect(gate({ headers: { host } } as unknown as HttpRequest)).toBe(fault);
});

test.each([
  ["127.0.0.1:7411", [], false],
  ["localhost:7411", [], false],
  ["127.0.0.1:7411", ["127.0.0.1"], true],
  ["0.0.0.0:7411", [], true],
  ["10.0.0.5:7411", [], true],
  ["[::]:7411", [], true],
])(
  "a gateway that listens on %s names its clients' addresses where they differ, with the proxies %j: %s",
  (listen, trustedProxies, isNamed) => {
    const table = { gateway: { listen, trustedProxies }, auth: AUTH };
    const config = loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} });
    expect(frontConfig(config).namesAddresses).toBe(isNamed);
  },
);
