/** Two folders of one user, each with a config, and one address: verbs in the second find the gateway of the first. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, HELLO, scriptServer, Workspace } from "./workspace.ts";

const first = new Workspace();
const second = new Workspace();
let said = "";

const inSecond = (...args: string[]) => second.start(args, { HOME: first.folder }).ended;

beforeAll(async () => {
  const port = await freePort();
  const gateway = `[gateway]\nlisten = "127.0.0.1:${port}"\n[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n`;
  first.write("isthmus.toml", `${gateway}${scriptServer("one", HELLO)}`);
  second.write("isthmus.toml", `${gateway}${scriptServer("two", HELLO)}`);
  await first.serve("up", ["one"]);
  said = `the gateway at http://127.0.0.1:${port} runs with ${first.path("isthmus.toml")}, and not with ${second.path("isthmus.toml")}`;
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

  test.each([
    [["token", "create", "--user", "ann"]],
    [["grant", "ann", "two"]],
    [["grant", "ann", "two", "--deny"]],
    [["revoke", "ann", "two"]],
  ])("%j says which gateway it changes", async (args) => {
    const { code, stderr } = await inSecond(...args);
    expect(stderr).toContain(`isthmus: ${said}\n`);
    expect(code).toBe(0);
  });

  test.each(["approve", "deny"])("%s says whose calls it decides about", async (verb) => {
    expect((await inSecond(verb, "--latest")).stderr).toContain(`isthmus: ${said}\n`);
  });

  test("list and call say it where something of the config here is missing there", async () => {
    const { stdout } = await inSecond("token", "create", "--user", "bob", "--role", "operator");
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
