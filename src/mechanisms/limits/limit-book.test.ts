import { describe, expect, test } from "vitest";
import type { Call, Identity, Principal, SessionRef, Target } from "../../contract/index.ts";
import { payload } from "../../contract/index.ts";
import { LimitBook } from "./limit-book.ts";
import type { LimitEntry } from "./limit-entry.ts";
import type { Limitable } from "./limited-target.ts";

const SEARCH: Target = { provider: "crm", kind: "tool", name: "search" };
const EXPORT: Target = { provider: "crm", kind: "tool", name: "export" };
const READ: Target = { provider: "files", kind: "tool", name: "read" };

function principal(user: string, more: Partial<Identity> = {}): Principal {
  const identity: Identity = {
    tenant: "org-1",
    user,
    client: `client-of-${user}`,
    groups: [],
    scopes: [],
    role: undefined,
    proof: "token",
    ...more,
  };
  return { id: `${identity.tenant}/${user}/${identity.client}`, identity };
}

const ADA = principal("ada");
const BOB = principal("bob");

function sessionOf(by: Principal, id: string, more: Partial<SessionRef> = {}): SessionRef {
  return { id, principal: by, isEphemeral: false, ...more } as SessionRef;
}

function callBy(by: Principal, target = SEARCH, more: Partial<Call> = {}): Call {
  return {
    id: "c",
    target,
    verb: "call",
    method: "tools/call",
    input: payload("{}"),
    principal: by,
    session: undefined,
    origin: { front: "mcp", protocol: "2025-11-25", requestId: "1" },
    deadline: 0,
    life: "resumable",
    signal: new AbortController().signal,
    ...more,
  };
}

function bookOf(...entries: Partial<LimitEntry>[]): LimitBook {
  const book = new LimitBook(({ provider, name }) => `${provider}.${name}`);
  book.replace(entries.map((entry) => ({ selector: {}, per: [], budget: 5, ...entry })));
  return book;
}

const chargesOf = (book: LimitBook, call: Call) => book.planOf(call)?.chargesOf(call);
const keysOf = (book: LimitBook, call: Call) => chargesOf(book, call)?.debits.map(({ key }) => key) ?? [];

describe("which limits are for a call", () => {
  test("one without a selector is for all", () => {
    const book = bookOf({});
    expect(keysOf(book, callBy(ADA))).toHaveLength(1);
    expect(keysOf(book, callBy(BOB, READ))).toEqual(keysOf(book, callBy(ADA)));
  });

  test("a server is named by its id, a primitive by its dotted name, or beside a server by its own [AP-532]", () => {
    expect(bookOf({ selector: { server: "crm" } }).planOf({ target: READ })).toBeUndefined();
    expect(bookOf({ selector: { server: "c*" } }).planOf({ target: SEARCH })).toBeDefined();
    expect(bookOf({ selector: { primitive: "crm.search" } }).planOf({ target: SEARCH })).toBeDefined();
    expect(bookOf({ selector: { primitive: "crm.search" } }).planOf({ target: EXPORT })).toBeUndefined();
    expect(bookOf({ selector: { primitive: "search" } }).planOf({ target: SEARCH })).toBeUndefined();
    expect(bookOf({ selector: { server: "crm", primitive: "search" } }).planOf({ target: SEARCH })).toBeDefined();
    expect(bookOf({ selector: { primitive: "*.sea*" } }).planOf({ target: SEARCH })).toBeDefined();
  });

  const uri = (name: string, template?: string): Limitable => ({
    target: { provider: "docs", kind: "resource", name },
    ...(template !== undefined && { template: { provider: "docs", kind: "template", name: template } }),
  });

  test.each([
    "file:///big.txt",
    "file:///b%69g.txt",
    "file:///./big.txt",
    "file:///x/../big.txt",
    "file:////big.txt",
    "file:///big.txt#1",
    "file:///big.txt?x",
    "FILE:///big.txt",
    "file:///BIG.txt",
    "file:///big.txt%20",
    " file:///big.txt",
    "file:///big.txt. ",
    "fi\tle:///big.txt",
    `file:///${"x/../".repeat(1_000)}big.txt`,
  ])("a resource is named by its URI in any spelling: %j", (name) => {
    for (const primitive of ["docs.file:///big.txt", "docs.file:///big.*", "docs.file:///BIG.txt", "docs.*"])
      expect(bookOf({ selector: { primitive } }).planOf(uri(name))).toBeDefined();
    expect(bookOf({ selector: { server: "docs", primitive: "file:///big.txt" } }).planOf(uri(name))).toBeDefined();
  });

  test("and by nothing that is said of other places, schemes, tools and servers", () => {
    const others = ["docs.file:///other.txt", "docs.search", "docs.get_*", "other.file:///big.txt", "docs.https://*"];
    for (const primitive of others)
      expect(bookOf({ selector: { primitive } }).planOf(uri("file:///big.txt"))).toBeUndefined();
    for (const primitive of others.slice(1))
      expect(bookOf({ selector: { primitive } }).planOf(uri("file:///b%69g.txt"))).toBeUndefined();
    const host = bookOf({ selector: { primitive: "docs.https://*.corp.example/*" } });
    expect(host.planOf(uri("https://evil.example/x"))).toBeUndefined();
    expect(host.planOf(uri("https://h.corp.example/x"))).toBeDefined();
  });

  test("a template counts what it leads to", () => {
    const book = bookOf({ selector: { primitive: "docs.file:///{+path}" } });
    expect(book.planOf(uri("file:///a.txt", "file:///{+path}"))).toBeDefined();
    expect(book.planOf(uri("file:///a.txt", "file:///{name}"))).toBeUndefined();
    expect(book.planOf(uri("file:///a.txt"))).toBeUndefined();
  });

  test("a tenant, a user and a client are named by what is known of the caller", () => {
    for (const selector of [{ user: "ada" }, { client: "client-of-a*" }, { tenant: "org-1", user: "a*" }]) {
      const book = bookOf({ selector });
      expect(keysOf(book, callBy(ADA))).toHaveLength(1);
      expect(chargesOf(book, callBy(BOB))).toBeUndefined();
    }
    expect(chargesOf(bookOf({ selector: { tenant: "org-2" } }), callBy(ADA))).toBeUndefined();
  });

  test("what somebody who is named has made is counted as theirs, beside whom else the limit names", () => {
    const named = { groups: [], scopes: [] };
    const maker = { id: "org-1/ada", user: "ada", client: "client-of-ada", ...named };
    const made = (user: string) => principal(user, { makerNames: [maker] });
    for (const selector of [{ user: "ada" }, { client: "client-of-ada" }, { user: "ad*", tenant: "org-1" }]) {
      for (const per of [[], ["user"], ["client"], ["user", "tenant"]] as const) {
        const book = bookOf({ selector, per: [...per] });
        expect(keysOf(book, callBy(made("zoe")))).toEqual(keysOf(book, callBy(ADA)));
      }
      expect(chargesOf(bookOf({ selector, isOwn: true, owner: "org-1" }), callBy(made("zoe")))).toBeUndefined();
    }
    const each = bookOf({ selector: { user: "ad*" }, per: ["user"], concurrency: 1 });
    const both = [...keysOf(each, callBy(principal("adam"))), ...keysOf(each, callBy(ADA))];
    expect(keysOf(each, callBy(made("adam")))).toEqual(both);
    expect(chargesOf(each, callBy(made("adam")))?.slots).toHaveLength(2);
    const all = bookOf({ selector: { user: "*" }, per: ["user"] });
    expect(keysOf(all, callBy(made("zoe")))).toEqual(keysOf(all, callBy(principal("zoe"))));
  });

  test("one of a tenant's own list is for no other tenant, whatever the tenant is called", () => {
    const book = bookOf({ owner: "*" });
    expect(chargesOf(book, callBy(ADA))).toBeUndefined();
    expect(keysOf(book, callBy(principal("x", { tenant: "*" })))).toHaveLength(1);
  });

  test("what speaks about another call, gives up a subscription, or comes from another process takes nothing", () => {
    const book = bookOf({});
    expect(chargesOf(book, callBy(ADA, SEARCH, { resumes: "c0" }))).toBeUndefined();
    expect(chargesOf(book, callBy(ADA, SEARCH, { method: "resources/unsubscribe" }))).toBeUndefined();
    expect(chargesOf(book, callBy(ADA, SEARCH, { method: "resources/subscribe" }))).toBeDefined();
    const session = sessionOf(ADA, "s", { isPeer: true });
    expect(chargesOf(book, callBy(ADA, SEARCH, { session }))).toBeUndefined();
  });
});

describe("which calls share a bucket", () => {
  test("those of what the platform has set for a tenant, whatever that one sets beside it", () => {
    const platforms = { owner: "org-1", selector: { user: "*" } };
    const own = { ...platforms, isOwn: true };
    const of = (...entries: Partial<LimitEntry>[]) => chargesOf(bookOf(...entries), callBy(ADA))?.debits ?? [];
    const [alone] = of(platforms);
    for (const beside of [[own], [own, own], [own, { ...own, per: ["user"] as const }, own]]) {
      const debits = of(...beside, platforms);
      expect(debits.filter(({ isOwn }) => isOwn !== true)).toEqual([alone]);
      expect(new Set(debits.map(({ key }) => key)).size).toBe(beside.length + 1);
    }
  });

  test("all that an entry is for, unless it is split [AP-031] [AP-032] [AP-033] [AP-034]", () => {
    const together = bookOf({ selector: { user: "*" } });
    expect(keysOf(together, callBy(ADA))).toEqual(keysOf(together, callBy(BOB)));
    for (const [per, other] of [
      ["user", callBy(BOB)],
      ["client", callBy(principal("ada", { client: "another" }))],
      ["server", callBy(ADA, READ)],
      ["primitive", callBy(ADA, EXPORT)],
    ] as const) {
      const apart = bookOf({ per: [per] });
      expect(keysOf(apart, callBy(ADA))).not.toEqual(keysOf(apart, other));
      expect(keysOf(apart, callBy(ADA))).toEqual(keysOf(apart, callBy(principal("ada"))));
    }
  });

  test("equal names in two tenants are two users; a program without a user is one by itself [AP-030]", () => {
    const book = bookOf({ per: ["user"] });
    expect(keysOf(book, callBy(ADA))).not.toEqual(keysOf(book, callBy(principal("ada", { tenant: "org-2" }))));
    const [one, two] = ["p1", "p2"].map((client) => callBy(principal("", { client })));
    expect(keysOf(book, one as Call)).not.toEqual(keysOf(book, two as Call));
    const tenants = bookOf({ per: ["tenant"] });
    expect(keysOf(tenants, callBy(ADA))).toEqual(keysOf(tenants, callBy(BOB)));
    expect(keysOf(tenants, callBy(ADA))).not.toEqual(keysOf(tenants, callBy(principal("ada", { tenant: "org-2" }))));
  });

  test("a new session does not help, unless the entry is split by sessions", () => {
    const [first, second] = ["s1", "s2"].map((id) => callBy(ADA, SEARCH, { session: sessionOf(ADA, id) }));
    const byUser = bookOf({ per: ["user"] });
    expect(keysOf(byUser, first as Call)).toEqual(keysOf(byUser, second as Call));
    const bySession = bookOf({ per: ["session"] });
    expect(keysOf(bySession, first as Call)).not.toEqual(keysOf(bySession, second as Call));
    const [one, two] = ["e1", "e2"].map((id) =>
      callBy(ADA, SEARCH, { session: sessionOf(ADA, id, { isEphemeral: true }) }),
    );
    expect(keysOf(bySession, one as Call)).toEqual(keysOf(bySession, two as Call));
    const unnamed = callBy(ADA, SEARCH, { session: sessionOf(ADA, "u1", { isUnnamed: true }) });
    expect(keysOf(bySession, unnamed)).toEqual(keysOf(bySession, one as Call));
  });

  test("URIs and methods that callers make up do not make buckets", () => {
    const book = bookOf({ per: ["primitive"] });
    const read = (name: string) => callBy(ADA, { provider: "files", kind: "resource", name });
    expect(keysOf(book, read("file:///a"))).toEqual(keysOf(book, read("file:///b")));
  });

  test("whatever callers are called, no store sees it in a name", () => {
    const book = bookOf({ per: ["user", "client", "tenant", "session", "primitive"], concurrency: 1 });
    const names = ["a:b", "*", "x\r\nFLUSHALL", "'; DROP TABLE policy; --", "ü".repeat(2_000), "{slot}", '","'];
    const keys = names.flatMap((name) => {
      const by = principal(name, { client: name, tenant: name });
      const charges = chargesOf(book, callBy(by, SEARCH, { session: sessionOf(by, name) }));
      return [...(charges?.debits ?? []), ...(charges?.slots ?? [])].map(({ key }) => key);
    });
    expect(new Set(keys).size).toBe(names.length * 2);
    for (const key of keys) expect(key).toMatch(/^[A-Za-z0-9_-]{27}$/);
  });

  test("two entries that say the same are counted apart, and each as before when the other is raised", () => {
    const rate = { capacity: 5, refill: 1, periodMs: 1_000 };
    const before = keysOf(bookOf({ budget: 5 }, { budget: 9 }), callBy(ADA));
    expect(new Set(before).size).toBe(2);
    expect(keysOf(bookOf({ budget: 7 }, { budget: 9 }), callBy(ADA))).toEqual(before);
    const [slow] = keysOf(bookOf({ budget: undefined, rate }), callBy(ADA));
    const [fast] = keysOf(bookOf({ budget: undefined, rate: { ...rate, capacity: 50, refill: 10 } }), callBy(ADA));
    expect(slow).toBe(fast);
  });
});

describe("what a call takes", () => {
  test("stands in the order of the levels, and apart as far as a held call takes it later [AP-151] [AP-184]", () => {
    const rate = { capacity: 5, refill: 1, periodMs: 1_000 };
    const book = bookOf(
      { rate, concurrency: 7 },
      { selector: { server: "crm" }, rate, budget: undefined },
      { owner: "org-1", rate, budget: undefined },
      { per: ["client"], budget: undefined, concurrency: 2 },
      { per: ["user"], budget: undefined, rate },
      { selector: { primitive: "crm.search" } },
    );
    const charges = chargesOf(book, callBy(ADA));
    expect(charges?.debits.map(({ level }) => level)).toEqual([
      "primitive",
      "user",
      "tenant",
      "server",
      "global",
      "global",
    ]);
    expect(charges?.slots.map(({ level, max }) => [level, max])).toEqual([
      ["client", 2],
      ["global", 7],
    ]);
    expect(charges?.budgets.map(({ level }) => level)).toEqual(["primitive", "global"]);
    expect(charges?.rates).toHaveLength(4);
  });

  test("is worked out once for a caller, and once for all primitives that are limited alike", () => {
    const book = bookOf({ per: ["user"] });
    expect(book.planOf({ target: SEARCH })).toBe(book.planOf({ target: READ }));
    expect(chargesOf(book, callBy(ADA))).toBe(chargesOf(book, callBy(ADA, READ)));
    expect(bookOf().planOf({ target: SEARCH })).toBeUndefined();
  });
});
