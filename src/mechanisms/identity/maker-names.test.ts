import { describe, expect, test } from "vitest";
import type { CallerNames, Identity, Principal, TokenRow } from "../../contract/index.ts";
import { makerNamesBy } from "./maker-names.ts";

const names = (id: string, more: Partial<CallerNames> = {}): CallerNames => ({
  id,
  user: id,
  client: "",
  groups: [],
  scopes: [],
  ...more,
});
const one = ({ id, ...own }: CallerNames, makerNames?: readonly CallerNames[], tenant = "acme"): Principal => {
  const identity: Identity = { tenant, role: "admin", proof: "token", ...own, ...(makerNames && { makerNames }) };
  return { id, identity };
};
const row = (makerNames: readonly CallerNames[]) => ({ makerNames }) as TokenRow;

describe("the names of a token's makers", () => {
  test("are what its maker is called, and what the maker bears of its own", () => {
    expect(makerNamesBy(one(names("chief")), undefined)).toEqual([names("chief")]);
    const boss = names("boss", { groups: ["contractors"] });
    expect(makerNamesBy(one(boss, [names("chief")]), undefined)).toEqual([names("chief"), boss]);
  });

  test("are those of the token before as well, also where its maker was called otherwise then", () => {
    const [then, now] = [names("x"), names("x", { groups: ["contractors"] })];
    expect(makerNamesBy(one(now), row([then]))).toEqual([then, now]);
    expect(makerNamesBy(one(then), row([then, now]))).toHaveLength(2);
  });

  test("are each there once, in whatever order somebody has groups and scopes", () => {
    const [some, same] = [names("x", { groups: ["a", "b"] }), names("x", { groups: ["b", "a"] })];
    expect(makerNamesBy(one(some, [names("chief")]), row([same, names("chief")]))).toHaveLength(2);
  });

  test("stay as they are where the platform rotates, and are none where it makes", () => {
    const root = one(names("root"), undefined, "default");
    expect(makerNamesBy(root, undefined)).toEqual([]);
    expect(makerNamesBy(root, row([names("boss")]))).toEqual([names("boss")]);
  });

  test("have a bound: a chain of tokens beyond it is refused, and the platform can make a new one", () => {
    let borne: readonly CallerNames[] = [];
    const make = (at: number) => makerNamesBy(one(names(`u${at}`, { client: "c".repeat(128) }), borne), undefined);
    for (let at = 0; at < 200; at++) borne = make(at);
    const goOn = () => {
      for (let at = 200; at < 2_000; at++) borne = make(at);
    };
    expect(goOn).toThrow("Let the platform's admin make a new token");
    expect(JSON.stringify(borne).length).toBeLessThan(65_537);
    expect(makerNamesBy(one(names("root"), undefined, "default"), undefined)).toEqual([]);
  });
});
