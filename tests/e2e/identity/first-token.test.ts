/** A gateway that asks everybody who they are, and that nobody has a token of yet: whoever runs it makes the first one. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { contentDigest, operatorCredentials } from "../../../src/contract/index.ts";
import { helloServer } from "../kit/gateway.ts";
import { operatorToken } from "../kit/operator.ts";
import { Program } from "../kit/program.ts";
import { freePort, Workspace } from "./workspace.ts";

const config = (listen: string) =>
  `[gateway]\nlisten = "${listen}"\n[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n${helloServer()}`;
const CREATE = ["token", "create", "--user", "root", "--role", "admin"];

describe("a gateway with [auth] that has given out no token", () => {
  let port: number;
  let origin: string;
  let space: Workspace;
  beforeAll(async () => {
    port = await freePort();
    space = new Workspace(config(`127.0.0.1:${port}`));
    origin = await space.up(`127.0.0.1:${port}`, { HOME: space.folder });
  });
  afterAll(() => space[Symbol.asyncDispose]());

  const ask = (headers: Record<string, string>, body: string) =>
    fetch(new URL("/api/tokens", origin), {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    });

  test("gives the first one to whoever runs it, while it runs", async () => {
    const made = await space.run(CREATE);
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining("of root")]);
    const { code, stdout } = await space.run(["list"], { ISTHMUS_TOKEN: made.stdout.trim() });
    expect([code, stdout]).toEqual([0, expect.stringContaining("hello.greet")]);
  });

  test.each([
    ["its tokens", ["token", "list"], "ID "],
    ["its sessions", ["sessions"], ""],
    ["what it wrote to its log", ["logs"], ""],
    ["its trail", ["audit", "query"], ""],
  ])("shows them %s", async (_what, words, shown) => {
    const { code, stdout, stderr } = await space.run(words);
    expect([code, stderr, stdout]).toEqual([
      0,
      expect.not.stringContaining("who you are"),
      expect.stringContaining(shown),
    ]);
  });

  test("writes no failed attempt down when whoever runs it looks, by any verb", async () => {
    const failures = ["audit", "query", "--type", "dev.isthmus.authentication_failed", "--json", "--limit", "100"];
    const before = (await space.run(failures)).stdout;
    for (const words of [["status"], ["logs"], ["sessions"], ["approvals"], ["trace"], ["audit", "tail"], ["doctor"]]) {
      const { code, stderr } = await space.run(words);
      expect([words[0], code, stderr]).toEqual([words[0], 0, expect.not.stringContaining("who you are")]);
    }
    expect((await space.run(failures)).stdout).toBe(before);
  });

  test("shows them its log as it is written", async () => {
    const words = ["logs", "--follow", "--limit", "1"];
    await using follower = new Program(words, { config: config(`127.0.0.1:${port}`), env: { HOME: space.folder } });
    const headers = { authorization: `Bearer ${operatorToken(space.folder)}` };
    const reload = () => fetch(new URL("/api/config/reload", origin), { method: "POST", headers });
    const isSeen = () =>
      follower.output(/config taken over/, 500).then(
        () => true,
        () => false,
      );
    // It may not yet listen when the first one is written.
    for (let attempt = 0; attempt < 20 && !(await isSeen()); attempt++) expect((await reload()).ok).toBe(true);
    expect(follower.stdout).toContain("config taken over");
    // The same address stands in a config of its own.
    expect(follower.stderr.trim().split("\n")).toEqual([expect.stringContaining("and not with")]);
  });

  test("gives none to anybody else on the machine", async () => {
    const home = join(space.folder, "elsewhere");
    const { code, stderr } = await space.run(CREATE, { HOME: home });
    expect([code, stderr]).toEqual([12, expect.stringContaining("asks who you are")]);
  });

  test("gives none for a guess, a proof of something else, or one that was shown before", async () => {
    const token = operatorToken(space.folder);
    const text = JSON.stringify({ user: "eve", role: "admin" });
    const digest = contentDigest(text, "utf8");
    const request = { address: "127.0.0.1", port, method: "POST", url: "/api/tokens", digest };
    const shown = operatorCredentials(token, request, Date.now());
    const wrong = [
      {},
      { authorization: "Bearer isop_" },
      { authorization: `Bearer isop_${"A".repeat(43)}` },
      { authorization: operatorCredentials(`isop_${"A".repeat(43)}`, request, Date.now()), "content-digest": digest },
      {
        authorization: operatorCredentials(token, { ...request, method: "GET" }, Date.now()),
        "content-digest": digest,
      },
      { authorization: operatorCredentials(token, request, Date.now() - 120_000), "content-digest": digest },
      { authorization: shown },
    ];
    for (const headers of wrong) expect((await ask(headers, text)).status).toBe(401);
    const headers = { authorization: shown, "content-digest": digest };
    expect((await ask(headers, text)).status).toBe(201);
    expect((await ask(headers, text)).status).toBe(401);
  });

  test("believes no proxy on this machine, not even with the token", async () => {
    const authorization = `Bearer ${operatorToken(space.folder)}`;
    for (const header of ["x-forwarded-for", "forwarded", "via", "x-real-ip"]) {
      expect((await ask({ authorization, [header]: "for=10.0.0.7" }, '{"user":"eve"}')).status).toBe(401);
    }
  });

  test("does not serve its operator's calls: the token is for the gateway itself", async () => {
    const { code, stderr } = await space.run(["list"], { ISTHMUS_TOKEN: operatorToken(space.folder) });
    expect([code, stderr]).toEqual([12, expect.stringContaining("did not accept the token")]);
  });
});

describe("isthmus up with [auth]", () => {
  const serve = async (space: Workspace, ...more: string[]) => {
    const args = ["up", "--config", join(space.folder, "isthmus.toml"), ...more];
    const program = new Program(args, { env: { HOME: space.folder } });
    await program.output(/Stop with/);
    return program;
  };

  test("says that there is no token yet, and the command that makes one", async () => {
    await using space = new Workspace(config(`127.0.0.1:${await freePort()}`));
    await using program = await serve(space);
    const [, command = ""] = /^There is no token yet.*\n {2}isthmus (token create .*)$/m.exec(program.stdout) ?? [];
    const made = await space.run(command.split(" "));
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining("this is the token")]);
  });

  test("and a home that cannot be written says the way that works: stop it, make one, start it again", async () => {
    const port = await freePort();
    const text = config(`127.0.0.1:${port}`).replace("[auth]", 'state = "state"\n[auth]');
    await using space = new Workspace(text);
    const env = { HOME: "/sys" };
    const args = ["up", "--config", join(space.folder, "isthmus.toml")];
    await using program = new Program(args, { env });
    await program.output(/Stop with/);
    expect(program.stdout).toMatch(/^There is no token yet.*\nStop it, make the first one, and start it again:\n/m);
    const refused = await space.run(CREATE, env);
    expect([refused.code, refused.stderr]).toEqual([12, expect.stringContaining("stop that gateway")]);
    await program.stop();
    expect((await space.run(CREATE, env)).stdout).toMatch(/^\S+\n$/);
  });

  test("says nothing of it once there is one", async () => {
    await using space = new Workspace(config(`127.0.0.1:${await freePort()}`));
    await space.createToken("--user", "root", "--role", "admin");
    await using program = await serve(space);
    expect(program.stdout).not.toContain("no token yet");
  });

  test("names an address of this machine where it listens on all of them", async () => {
    const port = await freePort();
    await using space = new Workspace(config(`0.0.0.0:${port}`));
    await using program = await serve(space);
    expect(program.stdout).toContain(`--url http://127.0.0.1:${port}`);
    const made = await space.run(CREATE);
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining("of root")]);
  });
});
