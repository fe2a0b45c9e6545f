/** Having what a rule denies that looks at the caller or the name alone, in other ways than by a call or in other spellings. */
import { afterAll, expect, test } from "vitest";
import { openSession, post } from "../e2e/kit/rpc.ts";
import { askingServer, rulesFor } from "./kit/config-parts.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { KeyIssuer } from "./kit/key-issuer.ts";
import { Places } from "./kit/places.ts";

// Its address stands in the config, which is made before any hook runs.
const issuer = await KeyIssuer.start();
afterAll(() => issuer[Symbol.asyncDispose]());

const RULES = {
  denied: { when: '!("payers" in principal.groups)', effect: "deny" },
  allowed: { when: '"payers" in principal.groups', effect: "allow" },
  told: { when: '!("pay" in principal.scopes) && tool.startsWith("told.")', effect: "deny" },
  faulty: { when: '!principal.groups.exists(one, one == "payers") && principal.nothing == 1', effect: "deny" },
};
const NAMES = Object.keys(RULES);
const config = `
[auth]
tokens = true
samePeople = ["tokens"]
resource = "https://gateway.example"
${issuer.table()}
${rulesFor(RULES)}
${[...NAMES, "free"].map((id) => askingServer(id, 'task = "auto"')).join("")}
`;
type Headers = Record<string, string>;
const bearer = (claims: object): Headers => ({ authorization: `Bearer ${issuer.token(claims)}` });
const good = () => bearer({ scope: "pay", groups: ["payers"] });
const less = () => bearer({ scope: "other", groups: ["others"] });

describeAttacks("what a rule about callers denies", { config, tokens: {} }, (field) => {
  const ask = async (url: string, session: Headers, method: string, params: object = {}) =>
    (await post(url, { id: 1, method, params }, session)).messages.at(-1);
  const opened = async (as: Headers, url = `${field.origin()}/mcp`): Promise<[string, Headers]> => [
    url,
    { ...(await openSession(url, { tasks: {} }, as)), ...as },
  ];

  test("is on no list, and one caller's list is not another's", async () => {
    for (const [as, isListed] of [
      [good, true],
      [less, false],
      [good, true],
    ] as const) {
      for (let at = 0; at < field.processes; at++) {
        const [url, session] = await opened(as(), `${field.origin(at)}/mcp`);
        const tools = JSON.stringify(await ask(url, session, "tools/list"));
        const resources = JSON.stringify(await ask(url, session, "resources/list"));
        expect(tools).toContain("free.touch");
        // One that cannot be judged is refused when it is called.
        for (const name of NAMES.filter((one) => one !== "faulty")) {
          expect([name, tools.includes(`"${name}.touch"`)]).toEqual([name, isListed]);
          expect([name, resources.includes(`memo://${name}`)]).toEqual([name, isListed]);
        }
      }
    }
  });

  test.each(NAMES)("is not told of as the result of a task: %s", async (name) => {
    const [url, session] = await opened(good());
    const params = { name: `${name}.touch`, arguments: {}, task: { ttl: 600_000 } };
    const { taskId } = ((await ask(url, session, "tools/call", params))?.result?.task ?? {}) as { taskId: string };
    expect(JSON.stringify(await ask(url, session, "tasks/result", { taskId }))).toContain("touched");
    const lesser = { ...session, ...less() };
    for (const method of ["tasks/result", "tasks/get", "tasks/cancel"]) {
      expect((await ask(url, lesser, method, { taskId }))?.error, method).toMatchObject({ code: -32602 });
    }
    expect(JSON.stringify(await ask(url, lesser, "tasks/list"))).not.toContain(taskId);
    expect(JSON.stringify(await ask(url, session, "tasks/list"))).toContain(taskId);
  });

  test.each(NAMES)("is not heard of by whoever comes for the stream of a session: %s", async (name) => {
    const [url, session] = await opened(good());
    for (const uri of [`memo://${name}`, "memo://free"]) {
      expect(await ask(url, session, "resources/subscribe", { uri })).toHaveProperty("result");
    }
    const leaving = new AbortController();
    const headers = { ...session, ...less(), accept: "text/event-stream" };
    const stream = await fetch(url, { headers, signal: leaving.signal });
    let heard = "";
    void (async () => {
      for await (const chunk of stream.body ?? []) heard += new TextDecoder().decode(chunk);
    })().catch(() => undefined);
    const [other, own] = await opened(good());
    for (const one of [name, "free"]) {
      const params = { name: `${one}.touch`, arguments: {} };
      expect(JSON.stringify(await ask(other, own, "tools/call", params))).toContain("touched");
    }
    await expect.poll(() => heard).toContain("memo://free");
    leaving.abort();
    expect(heard).not.toContain(`memo://${name}`);
  });
});

const places = new Places();
afterAll(() => places.remove());
const named = (when: string, effect: string) =>
  `[[access.rules]]\nmatch = "places.*"\nwhen = '${when}'\neffect = "${effect}"\n`;
const namedConfig = `[auth]
tokens = true
[gate]
evidence = "operator"
hold = "0s"
[access]
defaultPolicy = "opt-out"
${named('tool.contains("//private/")', "deny")}
${named('tool.contains("//secret/") && !has(args.token)', "deny")}
${named('tool.indexOf("//drafts/") > 0', "confirm")}
${places.table}`;

const spellings = (place: string) => [
  `notes://${place}/x`,
  `notes://%${place.charCodeAt(0).toString(16)}${place.slice(1)}/x`,
  `notes://me@${place}/x`,
  `notes://${place}:80/x`,
  `notes://${place}./x`,
  `notes:///${place}/x`,
  `notes:${place}/x`,
  `notes://x/..//${place}/x`,
  `NOTES://${place}/x`,
];

describeAttacks(
  "what a rule denies by its name",
  { config: namedConfig, tokens: { ann: ["--user", "ann"] } },
  (field) => {
    const reads = () => places.seen.split("resources/read").length;
    const subscriptions = () => places.seen.split("resources/subscribe").length;

    test("is no more than that", async () => {
      const params = { uri: "notes://public/x" };
      const [answer] = (await field.rpc({ id: 1, method: "resources/read", params }, { as: "ann" })).messages;
      expect(answer?.result).toBeDefined();
    });

    test.each(["private", "secret", "drafts"].flatMap(spellings))("is not read or heard of as %s", async (uri) => {
      const before = [reads(), subscriptions()];
      for (const method of ["resources/read", "resources/subscribe"]) {
        const session = { ...(await openSession(`${field.origin()}/mcp`, {}, field.as("ann"))), ...field.as("ann") };
        const { messages } = await post(`${field.origin()}/mcp`, { id: 1, method, params: { uri } }, session);
        // What waits for a yes is heard of: only reading it is held.
        if (!uri.includes("rafts") || method === "resources/read") expect(messages.at(-1)?.error, method).toBeDefined();
      }
      expect(reads()).toBe(before[0]);
      if (!uri.includes("rafts")) expect(subscriptions()).toBe(before[1]);
    });
  },
);
