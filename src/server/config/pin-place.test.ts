import { expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { pinPlaceIn } from "./pin-place.ts";

const raw = (table: Record<string, unknown>, files = ["/srv/isthmus.toml"]) => ({
  table,
  originOf: () => ({ file: "isthmus.toml", folder: "/srv", rank: 0, line: 1 }),
  files,
});

test("pins are found in a config whose secrets are not known here", () => {
  const unset = { fromEnv: "NOT_SET" };
  const servers = [
    { id: "a", env: { X: unset } },
    { id: "b", prefix: "x", pin: "block" },
    { id: "c", disabled: true },
  ];
  const table = { gateway: { sealKey: unset, naming: "underscore" }, database: { url: unset }, servers };
  expect(pinPlaceIn(raw(table))).toEqual({
    gateway: { naming: "underscore", state: "/srv/.isthmus" },
    servers: [
      { id: "a", segment: "a", pin: "report" },
      { id: "b", segment: "x", pin: "block" },
    ],
  });
});

test("pins are beside the file that names their folder, and nowhere without a config", () => {
  expect(pinPlaceIn(raw({ gateway: { state: "kept" } })).gateway.state).toBe("/srv/kept");
  expect(pinPlaceIn(raw({}, [])).gateway.state).toBeUndefined();
  expect(() => pinPlaceIn(raw({ gateway: { state: 7 } }))).toThrow(ConfigError);
});
