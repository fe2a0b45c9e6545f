import { describe, expect, test } from "vitest";
import { ConfigError } from "./config-error.ts";
import { placeIn, placeLeftIn } from "./gateway-place.ts";

const raw = (table: Record<string, unknown>) => ({ table, originOf: () => undefined, files: [] });

describe("placeIn", () => {
  test("finds address and names in a config that is otherwise wrong", () => {
    const servers = [{ id: "a" }, { id: "my.crm", prefix: "crm", nonsense: 1, env: { X: { fromEnv: "NOT_SET" } } }, 7];
    const place = placeIn(
      raw({ gateway: { listen: "127.0.0.1:9", naming: "underscore", colour: 1 }, servers }),
      undefined,
    );
    expect(place).toEqual({
      gateway: { listen: { host: "127.0.0.1", port: 9 }, naming: "underscore" },
      servers: [
        { id: "a", segment: "a" },
        { id: "my.crm", segment: "crm" },
      ],
    });
  });

  test("knows the default, and takes what it is given instead", () => {
    expect(placeIn(raw({}), undefined).gateway).toMatchObject({ listen: { port: 7411 }, naming: "dotted" });
    expect(placeIn(raw({ gateway: { tls: {} } }), { listen: "[::1]:2", by: "--listen" }).gateway).toMatchObject({
      listen: { host: "::1", port: 2 },
      tls: {},
    });
  });

  test("says what is wrong with an address", () => {
    expect(() => placeIn(raw({ gateway: { listen: "nowhere" } }), undefined)).toThrow(ConfigError);
  });

  test("blames the option or variable that names what is no address", () => {
    const given = { listen: "nowhere", by: "ISTHMUS_LISTEN" };
    for (const read of [placeIn, placeLeftIn])
      expect(() => read(raw({}), given)).toThrow(
        /^ISTHMUS_LISTEN: gateway\.listen: expected HOST:PORT.*found "nowhere"/,
      );
  });
});
