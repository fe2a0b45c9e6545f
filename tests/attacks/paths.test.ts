import { afterAll, expect, test } from "vitest";
import { readBlocks } from "../e2e/kit/markdown.ts";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";
import { listen, sendModern, type WithoutSession } from "./kit/without-session.ts";

const places = new Places();
afterAll(() => places.remove());

/** The rule that the guide shows. */
const guided = readBlocks("docs/guide/access.md").find(({ text }) => text.includes("glob(args.path"));
if (guided === undefined) throw new Error("docs/guide/access.md shows no rule about a path");

const config = `[auth]
tokens = true
[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = "places.file:///pub/*"
[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = "places.file:///{+path}"
[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = "places.read"
[[access.bindings]]
target = { type = "user", pattern = "ann" }
primitive = "places.touch"
[[access.bindings]]
target = { type = "user", pattern = "bob" }
primitive = "places.*"
[[access.bindings]]
target = { type = "user", pattern = "bob" }
primitive = "places.file:///priv/*"
allowed = false
[[access.bindings]]
target = { type = "user", pattern = "*" }
primitive = "places.a_b_2"
allowed = false
${guided.text.replace("files.", "places.")}${places.table}`;

const tokens = {
  root: ["--user", "root", "--role", "admin"],
  ann: ["--user", "ann"],
  bob: ["--user", "bob"],
};

/** The same file elsewhere, as one server or another reads it. */
const AROUND = [
  "file:///pub/../priv/x",
  "file:///pub/%2e%2e/priv/x",
  "file:///pub/.%2E/priv/x",
  "file:///pub/..%2fpriv/x",
  "file:///pub/%252e%252e/priv/x",
  "file:///pub/..\\priv\\x",
  "file:///pub/%c0%ae%c0%ae/priv/x",
  "file:///pub//../priv/x",
  "file:///pub/x\u0000/../../priv",
  "file:///pub/..;/priv/x",
  "file:///pub/..%3b/priv/x",
  "file:///pub/%EF%BC%8E%EF%BC%8E/priv/x",
  "file:///pub/%E2%80%A5/priv/x",
  "file:///pub/%EF%B9%92%EF%B9%92/priv/x",
  "file:///pub/..%EF%BC%8Fpriv/x",
  "file:///pub/..%E2%88%95priv/x",
  "file:///pub/%u002e%u002e/priv/x",
  "file:///pub/&#46;&#46;/priv/x",
  "file:///pub/&#46&#46/priv/x",
  "file:///pub/&#x2e&#x2e/priv/x",
  "file:///pub/..&#47priv/x",
  "file:///pub/&amp;#46&amp#46/priv/x",
  "file:///pub/&period;&period;&sol;priv/x",
  "file:///pub/..%26nbsp/priv/x",
  "file:///pub/..\u0301/priv/x",
  "file:///pub/.%CC%81./priv/x",
  "file:///pub/..%C2%A0/priv/x",
  "file:///pub/..%20/priv/x",
  "file:///pub/..%C2%85/priv/x",
  "file:///pub/..\u200b/priv/x",
  "file:///pub/.%E2%80%8B./priv/x",
];
/** The denied file itself, respelled. */
const RESPELLED = [
  "file:///priv/x",
  "FILE:///priv/x",
  "file:////priv/x",
  "file:///%70riv/x",
  "file:///./priv/x",
  "file://localhost/priv/x",
  "file:/priv/x",
  "file:///priv%2fx",
  "file:///priv./x",
  "file:///priv%20/x",
  "file:///priv.%20./x",
  "file:///priv::$INDEX_ALLOCATION/x",
];

describeAttacks("a policy over places", { config, tokens }, (field) => {
  const read = async (uri: string, as: string, method = "resources/read") => {
    const { messages } = await field.rpc({ id: 1, method, params: { uri } }, { as });
    return messages[0];
  };

  test("lets through what it allows", async () => {
    expect((await read("file:///pub/a", "ann"))?.result).toBeDefined();
    expect((await read("file:///pub/deep/b.txt", "ann"))?.result).toBeDefined();
    expect((await read("file:///other/b.txt", "bob"))?.result).toBeDefined();
  });

  test.each(AROUND)("is not left by %j", async (uri) => {
    const before = places.seen.split("resources/").length;
    for (const method of ["resources/read", "resources/subscribe"]) {
      const answer = await read(uri, "ann", method);
      expect(answer?.result, method).toBeUndefined();
      expect(answer?.error, method).toBeDefined();
    }
    expect(places.seen.split("resources/").length).toBe(before);
  });

  test.each(RESPELLED)("is not left by the spelling %j", async (uri) => {
    expect((await read(uri, "bob"))?.error).toBeDefined();
    expect(places.seen).not.toContain("priv");
  });

  test("says why it refuses", async () => {
    const { messages } = await field.rpc(
      { id: 1, method: "resources/read", params: { uri: "file:///pub/../priv/x" } },
      { as: "ann" },
    );
    expect(messages[0]?.error?.message).toContain("dot segment");
  });

  type Completing = { readonly name?: string; readonly uri?: string; readonly context?: object };
  const complete = async (
    value: string,
    as: string,
    { name = "path", uri = "file:///{+path}", context }: Completing = {},
  ) => {
    const params = { ref: { type: "ref/resource", uri }, argument: { name, value }, ...(context && { context }) };
    const { messages } = await field.rpc({ id: 1, method: "completion/complete", params }, { as });
    return messages[0];
  };

  test.each(["../priv/", "%2e%2e/priv", "..\\priv", "a/../../priv", "%EF%BC%8E%EF%BC%8E/priv"])(
    "completes nothing from %j",
    async (value) => {
      const before = places.seen.split("completion/complete").length;
      expect((await complete(value, "ann"))?.error).toBeDefined();
      expect(places.seen.split("completion/complete").length).toBe(before);
    },
  );

  test.each<[string, Completing]>([
    ["", {}],
    ["pub/", {}],
    ["pri", {}],
    ["e", {}],
    ["pri", { context: { arguments: { path: "pub/a" } } }],
    ["pri", { context: { arguments: { other: "pub/a" } } }],
  ])("completes %j %j with what may be read, and does not say how much else there is", async (value, how) => {
    const ann = await complete(value, "ann", how);
    expect(ann?.result?.completion).toEqual({ values: ["pub/a"] });
    const bob = await complete(value, "bob", how);
    expect(bob?.result?.completion).toEqual({ values: ["pub/a", "etc/shadow", "secret"] });
  });

  test.each<[string, Completing]>([
    ["a variable that the template does not have", { name: "Path" }],
    ["no variable", { name: "" }],
    ["a part of the template's text", { name: "+path" }],
  ])("completes nothing by %s", async (_name, how) => {
    for (const user of ["ann", "bob"])
      expect((await complete("", user, how))?.result?.completion).toEqual({ values: [] });
  });

  test.each<[string, object]>([
    ["a dot segment", { path: "/srv/../etc/passwd" }],
    ["escapes", { path: "/srv/%2e%2e/etc/passwd" }],
    ["escapes of letters like dots", { path: "/srv/%EF%BC%8E%EF%BC%8E/etc/passwd" }],
    ["dots and a letter without width", { path: "/srv/..\u200b/etc/passwd" }],
    ["an escaped parameter", { path: "/srv/..%3b/etc/passwd" }],
    ["escapes of escapes", { path: "/srv/%252e%252e/etc/passwd" }],
    ["a letter like a slash", { path: "/srv/..∕etc/passwd" }],
    ["escapes of a letter like a slash", { path: "/srv/..%E2%88%95etc/passwd" }],
    ["escapes of another kind", { path: "/srv/%u002e%u002e/etc/passwd" }],
    ["references of HTML", { path: "/srv/&#46;&#46;/etc/passwd" }],
    ["references without a semicolon", { path: "/srv/&#46&#46/&#x2e&#x2e/etc/passwd" }],
    ["a slash in a reference", { path: "/srv/..&#47etc/passwd" }],
    ["references behind references", { path: "/srv/&amp#46&amp;#46/etc/passwd" }],
    ["references by name", { path: "/srv/&period;&period;&sol;etc/passwd" }],
    ["dots with marks", { path: "/srv/..\u0301/..\u0301/etc/passwd" }],
    ["escapes of markup", { path: "/srv/&#46;&#46;/etc/passwd" }],
    ["a backslash", { path: "/srv/..\\etc\\passwd" }],
    ["an empty segment", { path: "/srv//etc/passwd" }],
    ["NUL", { path: "/srv/a\u0000/etc" }],
    ["another place", { path: "/etc/passwd" }],
    ["a twin in capitals", { path: "/srv/a", Path: "/etc/passwd" }],
    ["a twin with a blank", { path: "/srv/a", "path ": "/etc/passwd" }],
    ["a twin of other letters", { path: "/srv/a", ｐath: "/etc/passwd" }],
    ["a twin alone", { PATH: "/etc/passwd" }],
  ])("keeps a tool at its places: %s", async (_name, args) => {
    const { messages } = await field.rpc(toolCall(1, "places.read", args), { as: "ann" });
    expect(messages[0]?.error !== undefined || messages[0]?.result?.isError === true).toBe(true);
    expect(places.seen).not.toContain("etc");
  });

  test("lets the tool have what is there", async () => {
    const { messages } = await field.rpc(toolCall(1, "places.read", { path: "/srv/a b/c.txt", other: "PATH" }), {
      as: "ann",
    });
    expect(messages[0]?.result).toMatchObject({ content: [{ text: "done" }] });
  });

  test("tells of a rule for a name that only lists have, and takes none", async () => {
    expect(field.log()).toContain("places.a_b_2");
    const binding = { target: { type: "user", idOrPattern: "*" }, primitive: { name: "places.a_b_2" }, allowed: false };
    const { status, text } = await field.api("PUT", "/api/policy/orgs/default/bindings", binding, { as: "root" });
    expect([status, text]).toEqual([422, expect.stringContaining("places.a_b")]);
    // A name that no list has may have one tomorrow: it is taken, and told of.
    const later = { ...binding, primitive: { name: "places.laetr" } };
    expect((await field.api("PUT", "/api/policy/orgs/default/bindings", later, { as: "root" })).status).toBe(200);
    await expect.poll(() => field.log(), { timeout: 10_000 }).toContain('"written":"places.laetr"');
    const grant = { entry_type: "tool_grant", agent_id: "*", server_id: "places", permission: "deny" };
    for (const tool_name of ["a_b_2", "places.a_b_2", "places.a_b"]) {
      const granted = await field.api("POST", "/api/access/grant", { ...grant, tool_name }, { as: "root" });
      expect([granted.status, granted.text], tool_name).toEqual([422, expect.stringContaining("a_b")]);
    }
    for (const primitive of ["a_b_2", "places.a_b_2"]) {
      const exposure = { server: "places", protocol: "*", primitive, enabled: false };
      const put = await field.api("PUT", "/api/policy/orgs/default/exposure", exposure, { as: "root" });
      expect([put.status, put.text], primitive).toEqual([422, expect.stringContaining("a_b")]);
      const limits = [{ selector: { server: "places", primitive }, budget: 1 }];
      const limited = await field.api("PUT", "/api/ratelimits/orgs/default", limits, { as: "root" });
      expect([limited.status, limited.text], primitive).toEqual([422, expect.stringContaining("a_b")]);
    }
  });

  /** A message between processes may be late: without one, a change is there after the next look. */
  const waiting = { timeout: 10_000 };
  const SWITCHES: readonly [string, (uri: string) => object][] = [
    ["all of its kind", () => ({ server: "*", protocol: "*", primitive: "places.file:///pub/*" })],
    ["the resource", (uri) => ({ server: "places", protocol: "mcp", primitive: uri })],
    ["the server", () => ({ server: "places", protocol: "mcp" })],
  ];

  test.each(SWITCHES)("ends subscriptions with the switch of %s", async (_name, exposureOf) => {
    const at = 0;
    const url = `${field.origin(at)}/mcp`;
    const session = { ...field.as("ann"), ...(await openSession(url, {}, field.as("ann"))) };
    const uri = "file:///pub/a";
    const exposure = exposureOf(uri);
    const ask = async (id: number, method: string, params: object) =>
      (await post(url, { id, method, params }, session)).messages.at(-1);
    const life = new AbortController();
    const stream = await fetch(url, { headers: { ...session, accept: "text/event-stream" }, signal: life.signal });
    let heard = "";
    const reading = (async () => {
      for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) heard += chunk;
    })().catch(() => undefined);
    expect((await ask(1, "resources/subscribe", { uri }))?.result).toBeDefined();
    await ask(2, "tools/call", { name: "places.touch", arguments: { uri } });
    await expect.poll(() => heard.split("resources/updated").length, { timeout: 10_000 }).toBe(2);
    const given = places.seen.split("resources/unsubscribe").length;
    const change = (enabled: boolean) =>
      field.api("PUT", "/api/policy/orgs/default/exposure", { ...exposure, enabled }, { as: "root" });
    expect((await change(false)).status).toBe(200);
    await expect.poll(async () => (await ask(3, "resources/read", { uri }))?.error, waiting).toBeDefined();
    await expect.poll(() => places.seen.split("resources/unsubscribe").length, waiting).toBeGreaterThan(given);
    await change(true);
    const touch = () => ask(4, "tools/call", { name: "places.touch", arguments: { uri } });
    await expect.poll(async () => (await touch())?.result?.content, waiting).toBeDefined();
    // Only what it asks for again is told again.
    await expect.poll(async () => (await ask(5, "resources/subscribe", { uri }))?.result, waiting).toBeDefined();
    expect(heard.split("resources/updated").length).toBe(2);
    await touch();
    await expect.poll(() => heard.split("resources/updated").length, waiting).toBe(3);
    life.abort();
    await reading;
  });

  test.each(SWITCHES)("ends what is listened to without a session with the switch of %s", async (_name, exposureOf) => {
    // Nothing more exact was said of this one before.
    const uri = "file:///pub/b";
    const life = new AbortController();
    const clients = Array.from({ length: field.processes }, (_none, at) => ({
      url: `${field.origin(at)}/mcp`,
      headers: field.as("ann"),
      signal: life.signal,
    }));
    const listenEverywhere = () =>
      Promise.all(clients.map((client) => listen(client, { resourceSubscriptions: [uri], toolsListChanged: true })));
    const updates = (listeners: readonly (() => string)[]) =>
      listeners.map((heard) => heard().split("resources/updated").length - 1);
    const once = clients.map(() => 1);
    const ask = async (client: WithoutSession, method: string, params: Record<string, unknown>) =>
      (await sendModern(client, method, params)).text();
    const touch = () =>
      field.rpc(toolCall(1, "places.touch", { uri }), { as: "ann" }).then(({ messages }) => JSON.stringify(messages));
    const change = async (enabled: boolean) => {
      const body = { ...exposureOf(uri), enabled };
      const said = await field.api("PUT", "/api/policy/orgs/default/exposure", body, { as: "root" });
      expect(said.status, said.text).toBe(200);
      for (const client of clients) {
        const isRead = async () => (await ask(client, "resources/read", { uri })).includes("what it holds");
        await expect.poll(isRead, waiting).toBe(enabled);
      }
    };
    const listeners = await listenEverywhere();
    for (const heard of listeners) expect(heard()).toContain(`"resourceSubscriptions":["${uri}"]`);
    await touch();
    await expect.poll(() => updates(listeners), waiting).toEqual(once);
    const given = places.seen.split("resources/unsubscribe").length;
    await change(false);
    await expect.poll(() => places.seen.split("resources/unsubscribe").length, waiting).toBeGreaterThan(given);
    for (const heard of await listenEverywhere()) expect(heard()).not.toContain(uri);
    await touch();
    await change(true);
    // Only what is asked for again is told again.
    const later = await listenEverywhere();
    expect(await touch()).toContain("done");
    await expect.poll(() => updates(later), waiting).toEqual(once);
    expect(updates(listeners)).toEqual(once);
    life.abort();
  });
});
