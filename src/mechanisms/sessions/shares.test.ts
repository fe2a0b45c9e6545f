import { expect, test } from "vitest";
import { LOCAL, type Principal } from "../../contract/index.ts";
import { Shares } from "./shares.ts";

const caller = (id: string, user = id, tenant = "default") =>
  ({ id, identity: { ...LOCAL.identity, tenant, user, proof: "token" } }) as Principal;

function takeAll(shares: Shares, of: (number: number) => Principal): number {
  for (let taken = 0; taken < 100; taken++) {
    if (shares.isSpent(of(taken))) return taken;
    shares.take(of(taken));
  }
  return 100;
}

test.each<[string, number, (number: number) => Principal]>([
  ["a caller has a quarter", 25, () => caller("ann")],
  ["a user has a quarter, with however many tokens", 25, (number) => caller(`token ${number}`, "ann")],
  ["a tenant has half, with however many users", 50, (number) => caller(`token ${number}`, `user ${number}`, "acme")],
  ["programs of a tenant without users have half", 50, (number) => caller(`token ${number}`, "", "acme")],
  ["the platform's own people have all of it", 100, (number) => caller(`token ${number}`, `user ${number}`)],
  ["whoever is there has all of it, where nobody is asked who they are", 100, () => LOCAL],
])("%s", (_whose, most, of) => {
  const shares = new Shares(100);
  expect(takeAll(shares, of)).toBe(most);
  expect(shares.isSpent(caller("bob"))).toBe(false);
  shares.giveBack(of(0));
  expect(shares.isSpent(of(0))).toBe(false);
});

test("what is given back leaves nothing behind", () => {
  const shares = new Shares(100);
  const ann = caller("ann", "ann", "acme");
  for (let turn = 0; turn < 100; turn++) {
    shares.take(ann);
    shares.giveBack(ann);
  }
  expect(takeAll(shares, () => ann)).toBe(25);
});

test("what a caller took under another user's name is given back there", () => {
  const shares = new Shares(100);
  for (let turn = 0; turn < 100; turn++) {
    shares.take(caller("app", "ann"));
    shares.giveBack(caller("app", "ann of sales"));
  }
  expect(takeAll(shares, (number) => caller(`token ${number}`, "ann"))).toBe(25);
});

test("several can be taken and given back at once", () => {
  const shares = new Shares(100);
  const ann = caller("ann");
  expect([shares.isSpent(ann, 25), shares.isSpent(ann, 26)]).toEqual([false, true]);
  shares.take(ann, 20);
  expect([shares.isSpent(ann, 5), shares.isSpent(ann, 6)]).toEqual([false, true]);
  shares.giveBack(ann, 20);
  expect(shares.isSpent(ann, 25)).toBe(false);
});

test("whose share is spent can be told, and who has a part of it", () => {
  const shares = new Shares(4);
  const [ann, bob] = [caller("ann", "ann", "acme"), caller("bob", "bob", "acme")];
  shares.take(ann);
  expect(shares.spent(ann)).toMatchObject({ whose: "caller" });
  shares.take(bob);
  const spent = shares.spent(caller("eve", "eve", "acme"));
  expect(spent).toMatchObject({ whose: "tenant", size: 2 });
  expect([ann, bob, caller("ann")].map((one) => spent && shares.isOf(spent, one))).toEqual([true, true, false]);
});
