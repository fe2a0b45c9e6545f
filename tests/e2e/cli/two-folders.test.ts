/** Two folders of one user, each with a config, and one address: verbs in the second find the gateway of the first. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clientVerbs } from "./client-verbs.ts";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

const first = new Workspace();
const second = new Workspace();
let [said, origin] = ["", ""];

/** Verbs that speak to a gateway as its clients do: what they call and read is what its own config offers. */
const CALLING = ["call", "list", "search", "show", "read", "prompt"];
/** Those that say by themselves with which config it runs, and those that work things out from the config here. */
const TELLING = ["status", "explain"];
/** Those that only look. Every other verb of the program changes something. */
const LOOKS = [
  "approvals",
  "audit tail",
  "audit query",
  "audit verify",
  "audit export",
  "logs",
  "sessions list",
  "trace",
];

const forms = clientVerbs().flatMap((words) => {
  const [verb = "", action] = words;
  // Tokens have a database to go to, and servers are named as the config here does.
  if ([...CALLING, ...TELLING, "token"].includes(verb)) return [];
  const name = LOOKS.find((one) => one === verb || one === `${verb} ${action}`) ?? words.join(" ");
  return [[name, words.map((word) => word.replace("hello.greet", "two.greet"))] as const];
});
const LOOKING = forms.filter(([name]) => LOOKS.includes(name));
const CHANGING = forms.filter(([name]) => !LOOKS.includes(name));

const inSecond = (...args: string[]) => second.start(args, { HOME: first.folder }).ended;
const trailOfFirst = async () => (await first.run("audit", "query", "--limit", "1000", "--json")).stdout;

beforeAll(async () => {
  const port = await freePort();
  const gateway = `[gateway]\nlisten = "127.0.0.1:${port}"\n[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n`;
  first.write("isthmus.toml", `${gateway}${scriptServer("one", HELLO)}`);
  second.write("isthmus.toml", `${gateway}${scriptServer("two", HELLO)}`);
  await first.serve("up", ["one"]);
  origin = `http://127.0.0.1:${port}`;
  said = `the gateway at ${origin} runs with ${first.path("isthmus.toml")}, and not with ${second.path("isthmus.toml")}`;
});
afterAll(async () => {
  await second[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
});

describe("with a gateway of another folder at the address of the config", () => {
  test("doctor warns, and does not say that it has taken over this config", async () => {
    const { stdout } = await inSecond("doctor");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("it runs with another config: ~/isthmus.toml");
    expect(stdout).not.toContain("has taken over its config");
    expect(stdout).not.toContain("Everything is well");
  });

  test.each(CHANGING)("%s changes nothing there, and says how it would", async (_name, words) => {
    const before = await trailOfFirst();
    const { code, stdout, stderr } = await inSecond(...words);
    expect([code, stdout]).toEqual([7, ""]);
    expect(stderr).toBe(`isthmus: ${said}\nisthmus: nothing was changed; to change that one say --url ${origin}\n`);
    expect(await trailOfFirst()).toBe(before);
  });

  test.each(LOOKING)("%s says whose it shows", async (_name, words) => {
    expect((await inSecond(...words)).stderr).toContain(`isthmus: ${said}`);
  });

  test("tokens are made, listed, replaced and revoked in the database of the config here", async () => {
    const before = await trailOfFirst();
    const made = await inSecond("token", "create", "--user", "zoe");
    expect(made).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`isthmus: ${said}: the database of this config is used\n`),
    });
    const tokens = async () => JSON.parse((await inSecond("token", "list", "--json")).stdout).tokens;
    const [{ id, user }, ...others] = await tokens();
    expect([user, others]).toEqual(["zoe", []]);
    expect((await inSecond("token", "rotate", id)).code).toBe(0);
    const [{ id: next }] = await tokens();
    expect((await inSecond("token", "revoke", next)).stdout).toBe(`Revoked ${next}.\n`);
    expect(await tokens()).toEqual([]);
    expect(await trailOfFirst()).toBe(before);
  });

  test.each(["--url", "--config"])("whoever names that gateway with %s changes it", async (option) => {
    const named = option === "--url" ? origin : first.path("isthmus.toml");
    const { code, stdout, stderr } = await inSecond("grant", "ann", "one", option, named);
    expect([code, stdout, stderr]).toEqual([0, "ann may use all of one.\n", ""]);
    expect((await inSecond("token", "create", "--user", "ann", option, named)).code).toBe(0);
    const { tokens } = JSON.parse((await first.run("token", "list", "--json")).stdout);
    expect(tokens.map(({ user }: { user: string }) => user)).toContain("ann");
    expect((await inSecond("revoke", "ann", "one", option, named)).code).toBe(0);
  });

  test("list and call say it where something of the config here is missing there", async () => {
    const { stdout } = await first.run("token", "create", "--user", "bob", "--role", "operator");
    const asBob = (...args: string[]) => second.start(args, { HOME: first.folder, ISTHMUS_TOKEN: stdout.trim() }).ended;
    expect((await asBob("list")).stderr).toContain(said);
    const { code, stderr } = await asBob("call", "two.greet", "name=Ada");
    expect(stderr).toContain(said);
    expect(code).not.toBe(0);
  });

  test("list names the servers of that gateway, and none of the config here", async () => {
    const made = await first.run("token", "create", "--user", "cy", "--role", "operator");
    const offersOf = async (server: string) => {
      const port = /listen = "127\.0\.0\.1:(\d+)"/.exec(first.read("isthmus.toml"))?.[1];
      const table = `${scriptServer(server, HELLO)}prefix = ""\n`;
      const config = second.write("bare.toml", `[gateway]\nlisten = "127.0.0.1:${port}"\n${table}`);
      const args = ["list", "--json", "--config", config];
      const { stdout } = await second.start(args, { HOME: first.folder, ISTHMUS_TOKEN: made.stdout.trim() }).ended;
      return JSON.parse(stdout).offers.map((offer: { server?: string }) => offer.server);
    };
    expect(await offersOf("bare")).toEqual(["one", "one", "one"]);
  });

  test("nothing is said in the folder of the gateway itself", async () => {
    expect((await first.run("token", "create", "--user", "eve")).stderr).not.toContain("runs with");
    expect((await first.run("doctor")).stdout).toContain("has taken over its config");
  });
});
