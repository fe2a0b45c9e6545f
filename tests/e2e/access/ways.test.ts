/** Every way to reach a primitive, for every caller under every policy: what is listed and what is reached is the oracle's word. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Identity, underscoreName } from "../../../src/contract/index.ts";
import type { Question } from "../../../src/mechanisms/access/index.ts";
import { oracle } from "../../kit/access-oracle.ts";
import { Workspace } from "../identity/workspace.ts";
import { ROOT } from "../kit/program.ts";
import { type Answer, Caller } from "./callers.ts";
import { allPolicies, type NamedPolicy } from "./policies.ts";

const SERVERS = ["files", "docs"];
const PEOPLE: Readonly<Record<string, Partial<Identity>>> = {
  root: { scopes: ["*"] },
  ann: { groups: ["ops"] },
  bob: { groups: ["dev"], scopes: ["files:write"] },
  carol: {},
};

type Kind = "tool" | "prompt" | "resource" | "template";
/** `shown`: its name on `/mcp`; `template`: by which its URI is found. */
type Thing = {
  readonly server: string;
  readonly kind: Kind;
  readonly own: string;
  readonly shown: string;
  readonly template?: string;
};

const BY_DAY = "note://by-day/{day}";
const THINGS: readonly Thing[] = SERVERS.flatMap((server): Thing[] => {
  const uri = (own: string) => (server === "docs" && !own.startsWith("note://only/") ? `docs+${own}` : own);
  const only = `note://only/${server}`;
  return [
    { server, kind: "tool", own: "show", shown: `${server}.show` },
    { server, kind: "tool", own: "drop", shown: `${server}.drop` },
    { server, kind: "prompt", own: "review", shown: `${server}.review` },
    { server, kind: "resource", own: "note://today", shown: uri("note://today") },
    { server, kind: "resource", own: only, shown: uri(only) },
    { server, kind: "resource", own: "note://by-day/mon", shown: uri("note://by-day/mon"), template: BY_DAY },
    { server, kind: "template", own: BY_DAY, shown: uri(BY_DAY) },
  ];
});
const RENAMED: Readonly<Record<string, string>> = { "files.show": "look", "docs.review": "files_review" };

const identityOf = (user: string): Identity => ({
  tenant: "default",
  user,
  client: "a token",
  groups: [],
  scopes: [],
  role: undefined,
  proof: "token",
  ...PEOPLE[user],
});

const questionOf = ({ server, kind, own }: Thing, catalog: string): Question => ({
  server,
  kind,
  name: own,
  dotted: `${server}.${own}`,
  protocol: "mcp",
  catalog,
});

class Gateway {
  readonly naming: string;
  readonly named: NamedPolicy;
  readonly callers = new Map<string, Caller>();
  readonly #place: Workspace;
  readonly #seen: string;
  #marks = 0;
  #origin = "";
  #auditor = "";

  constructor(named: NamedPolicy, naming: string) {
    this.named = named;
    this.naming = naming;
    this.#place = new Workspace("");
    this.#seen = this.#place.write("seen", "");
    const server = join(ROOT, "tests/e2e/access/watched-server.mjs");
    const tables = SERVERS.map((id) => {
      const args = JSON.stringify([server, id, this.#seen]);
      return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${args}\n`;
    });
    const rename = Object.entries(RENAMED).map(([from, to]) => `"${from}" = "${to}"`);
    const catalog = `[[catalogs]]\nid = "team"\nrename = { ${rename.join(", ")} }\n`;
    const head = `[gateway]\nsse = true\nnaming = "${naming}"\n[auth]\ntokens = true\n`;
    this.#place.write("isthmus.toml", [head, ...tables, catalog, named.toml].join("\n"));
  }

  async open(): Promise<void> {
    const tokens = new Map<string, string>();
    for (const [user, { groups = [], scopes = [] }] of Object.entries(PEOPLE)) {
      const more = [...groups.flatMap((group) => ["--group", group]), ...scopes.flatMap((scope) => ["--scope", scope])];
      tokens.set(user, await this.#place.createToken("--user", user, ...more));
    }
    this.#auditor = await this.#place.createToken("--user", "auditor", "--role", "viewer");
    const origin = await this.#place.up("127.0.0.1:0");
    this.#origin = origin;
    for (const [user, token] of tokens) this.callers.set(user, new Caller(origin, token));
  }

  async close(): Promise<void> {
    for (const caller of this.callers.values()) await caller.close();
    await this.#place[Symbol.asyncDispose]();
  }

  mark(): string {
    return `mark-${++this.#marks}-`;
  }

  hasSeen(mark: string): boolean {
    return readFileSync(this.#seen, "utf8").includes(mark);
  }

  /** Who was kept from this, as the trail has it. */
  async blockedFrom({ server, own }: Thing): Promise<readonly string[]> {
    const asked = { event_type: "TOOL_BLOCKED", server_id: server, tool_name: own, limit: "1000" };
    const headers = { authorization: `Bearer ${this.#auditor}` };
    const response = await fetch(`${this.#origin}/api/audit?${new URLSearchParams(asked)}`, { headers });
    const { events } = (await response.json()) as { events: { details: { user: string } }[] };
    return events.map(({ details }) => details.user);
  }

  /** Whether the trail has one more of it since it was asked first. */
  async newBlocks(user: string): Promise<(thing: Thing) => Promise<boolean>> {
    const count = async (thing: Thing) => (await this.blockedFrom(thing)).filter((one) => one === user).length;
    const before = new Map<Thing, number>();
    for (const thing of THINGS) before.set(thing, await count(thing));
    return async (thing) => (await count(thing)) > (before.get(thing) ?? 0);
  }

  /** What the oracle says: listed, and reached by a call. */
  expected(user: string, thing: Thing, catalog = ""): { isListed: boolean; isReached: boolean } {
    const { policy } = this.named;
    const identity = identityOf(user);
    const holds = () => true;
    const ask = (about: Thing, by = identity) =>
      oracle({ policy, identity: by, isBlocked: false, question: questionOf(about, catalog), now: Date.now(), holds });
    const template = thing.template && { ...thing, kind: "template" as const, own: thing.template };
    const both = [ask(thing), ...(template ? [ask(template)] : [])];
    // With a better token it could be called: it is no secret then.
    const better = ask(thing, { ...identity, scopes: ["*"] });
    const isListed = both.every(
      ({ effect, sources }) => effect !== "deny" || (sources.includes("scope") && better.effect !== "deny"),
    );
    return { isListed, isReached: both.every(({ effect }) => effect !== "deny") };
  }

  shownAs({ server, kind, own, shown }: Thing, path: string): string {
    if (path === "/mcp") return kind === "tool" || kind === "prompt" ? this.#named(server, shown) : shown;
    if (path !== "/team/mcp") return own;
    const renamed = RENAMED[shown];
    return kind === "tool" || kind === "prompt" ? (renamed ?? this.#named(server, shown)) : shown;
  }

  #named(segment: string, dotted: string): string {
    return this.naming === "underscore" ? underscoreName(segment, dotted) : dotted;
  }
}

/** The requests by which a primitive can be used. */
function requestsFor(
  { kind }: Thing,
  name: string,
  mark: string,
): readonly { method: string; params: Record<string, unknown> }[] {
  const _meta = { "test/mark": mark };
  const argument = { name: "mark", value: mark };
  if (kind === "tool") return [{ method: "tools/call", params: { name, arguments: {}, _meta } }];
  if (kind === "prompt") {
    const ref = { type: "ref/prompt", name };
    return [
      { method: "prompts/get", params: { name, arguments: { mark } } },
      { method: "completion/complete", params: { ref, argument } },
    ];
  }
  if (kind === "template")
    return [{ method: "completion/complete", params: { ref: { type: "ref/resource", uri: name }, argument } }];
  return [{ method: "resources/read", params: { uri: name, _meta } }];
}

/** An error without the name that it is about. */
function refusal({ status, message }: Answer, name: string): string {
  const text = JSON.stringify({ status, result: message?.result, error: message?.error });
  return text.replaceAll(JSON.stringify(name).slice(1, -1), "NAME").replaceAll(/"callId":"[^"]*"/g, "");
}

const LISTS = {
  tool: ["tools/list", "tools", "name"],
  prompt: ["prompts/list", "prompts", "name"],
  resource: ["resources/list", "resources", "uri"],
  template: ["resources/templates/list", "resourceTemplates", "uriTemplate"],
} as const;

const NAMINGS = ["dotted", "underscore"];
const CASES = allPolicies(SERVERS).flatMap((named, place) => ({ named, naming: NAMINGS[place % 2] as string }));

describe.each(CASES)("$named.name, with $naming names", ({ named, naming }) => {
  const gateway = new Gateway(named, naming);
  beforeAll(() => gateway.open());
  afterAll(() => gateway.close());

  const everywhere = (user: string) => {
    const caller = gateway.callers.get(user) as Caller;
    const paths = ["/mcp", "/team/mcp", ...SERVERS.map((id) => `/${id}/mcp`)];
    const ways = {
      "a session of 2025": caller.inSession,
      "no session": caller.ephemeral,
      "a batch": caller.inBatch,
      "2026": caller.modern,
    };
    return [
      ...Object.entries(ways).flatMap(([way, ask]) => paths.map((path) => ({ way, path, ask }))),
      { way: "HTTP+SSE of 2024", path: "/mcp", ask: caller.overSse },
    ];
  };
  const catalogOf = (path: string) => (path === "/mcp" ? "" : path.slice(1, -"/mcp".length));
  const thingsAt = (path: string) =>
    THINGS.filter(({ server }) => !SERVERS.includes(catalogOf(path)) || server === catalogOf(path));

  test.each(Object.keys(PEOPLE))("%s is listed what the oracle allows, on every way", async (user) => {
    for (const { way, path, ask } of everywhere(user)) {
      for (const [kind, [method, member, key]] of Object.entries(LISTS)) {
        const { message } = await ask(path, method, {});
        const listed = ((message?.result?.[member] ?? []) as Record<string, string>[])
          .map((entry) => entry[key])
          .sort();
        const meant = thingsAt(path).filter((thing) => thing.kind === kind && thing.template === undefined);
        const expected = meant.filter((thing) => gateway.expected(user, thing, catalogOf(path)).isListed);
        expect(listed, `${way} ${path} ${method}`).toEqual(
          expected.map((thing) => gateway.shownAs(thing, path)).sort(),
        );
      }
    }
  });

  test.each(Object.keys(PEOPLE))(
    "%s reaches what the oracle allows, on every way, and cannot tell the rest from what is not there where that is concealed; the trail can",
    async (user) => {
      const refused = new Set<Thing>();
      for (const { way, path, ask } of everywhere(user)) {
        for (const thing of thingsAt(path)) {
          const name = gateway.shownAs(thing, path);
          const { isListed, isReached } = gateway.expected(user, thing, catalogOf(path));
          const mark = gateway.mark();
          if (!isReached) refused.add(thing);
          for (const { method, params } of requestsFor(thing, name, mark)) {
            const answer = await ask(path, method, params);
            const what = `${way} ${path} ${method} ${name}`;
            expect(gateway.hasSeen(mark), what).toBe(isReached);
            expect(answer.message?.error === undefined && answer.message?.result?.isError !== true, what).toBe(
              isReached,
            );
            // Behind one server it is that server who says of a URI that nobody lists whether it is there.
            const isUri = thing.kind === "resource" || thing.kind === "template";
            const isServers = isUri && SERVERS.includes(catalogOf(path));
            if (!gateway.named.conceals && !isReached) expect(refusal(answer, name), what).toContain("NOT_ALLOWED");
            if (isListed || isServers || !gateway.named.conceals) continue;
            const missing = `${thing.kind === "tool" || thing.kind === "prompt" ? "" : "none://"}nothing${name.length}`;
            const [absent] = requestsFor(thing, missing, gateway.mark()).filter((one) => one.method === method);
            const unknown = await ask(path, method, absent?.params ?? {});
            expect(refusal(answer, name), what).toBe(refusal(unknown, missing));
          }
        }
      }
      for (const thing of refused) {
        await expect.poll(() => gateway.blockedFrom(thing), { message: thing.shown }).toContain(user);
      }
    },
  );

  test.each(Object.keys(PEOPLE))("%s is completed what the oracle lets them read, on every way", async (user) => {
    for (const { way, path, ask } of everywhere(user)) {
      for (const thing of thingsAt(path).filter(({ kind }) => kind === "template")) {
        const ref = { type: "ref/resource", uri: gateway.shownAs(thing, path) };
        const { message } = await ask(path, "completion/complete", { ref, argument: { name: "day", value: "" } });
        const readable = ["mon", "tue"].filter((day) => {
          const read: Thing = { ...thing, kind: "resource", own: `note://by-day/${day}`, template: BY_DAY };
          return gateway.expected(user, read, catalogOf(path)).isReached;
        });
        const { values } = (message?.result?.completion ?? { values: [] }) as { values: string[] };
        expect(values, `${way} ${path} ${ref.uri}`).toEqual(readable);
      }
    }
  });

  test.each(Object.keys(PEOPLE))(
    "%s listens to what the oracle allows, on streams of 2026, and the trail has what they were kept from",
    async (user) => {
      const caller = gateway.callers.get(user) as Caller;
      const isNew = await gateway.newBlocks(user);
      const refused: Thing[] = [];
      for (const path of ["/mcp", "/team/mcp", ...SERVERS.map((id) => `/${id}/mcp`)]) {
        const things = thingsAt(path).filter(({ kind }) => kind === "resource");
        const reached = things.filter((thing) => gateway.expected(user, thing, catalogOf(path)).isReached);
        refused.push(...things.filter((thing) => !reached.includes(thing)));
        const names = things.map((thing) => gateway.shownAs(thing, path));
        const heard = await caller.listen(path, names);
        expect(heard, path).toEqual(reached.map((thing) => gateway.shownAs(thing, path)));
      }
      for (const thing of refused) await expect.poll(() => isNew(thing), { message: thing.shown }).toBe(true);
    },
  );

  test.each(Object.keys(PEOPLE))(
    "%s reaches nothing more by subscribing, as a task, by a method that nobody knows, or without an id",
    async (user) => {
      const caller = gateway.callers.get(user) as Caller;
      for (const thing of THINGS) {
        const name = gateway.shownAs(thing, "/mcp");
        const { isReached } = gateway.expected(user, thing);
        if (thing.kind === "resource") {
          const before = gateway.mark();
          const answer = await caller.inSession("/mcp", "resources/subscribe", { uri: name, _meta: { mark: before } });
          expect(answer.message?.error === undefined, name).toBe(isReached);
        }
        if (thing.kind !== "tool") continue;
        const mark = gateway.mark();
        const task = { ttl: 60_000 };
        await caller.inSession("/mcp", "tools/call", { name, arguments: {}, task, _meta: { "test/mark": mark } });
        expect(gateway.hasSeen(mark), `${name} as a task`).toBe(isReached);
        const silent = gateway.mark();
        await caller.notify(`/${thing.server}/mcp`, "tools/call", {
          name: thing.own,
          arguments: {},
          _meta: { "test/mark": silent },
        });
        const unknown = gateway.mark();
        const answer = await caller.inSession(`/${thing.server}/mcp`, "x/raw", { _meta: { "test/mark": unknown } });
        // Whoever may see nothing of a server is told that there is none.
        const sees = THINGS.some((one) => one.server === thing.server && gateway.expected(user, one).isListed);
        expect(answer.message?.error?.code).toBe(sees || !gateway.named.conceals ? -32601 : -32000);
        await caller.notify(`/${thing.server}/mcp`, "x/raw", { mark: unknown });
        await caller.inSession("/mcp", "ping", {});
        expect([gateway.hasSeen(silent), gateway.hasSeen(unknown)], name).toEqual([false, false]);
      }
    },
  );
});
