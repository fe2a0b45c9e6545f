/** People who say yes without a key: whoever runs a gateway that asks nobody who they are, and operators who have a token. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../kit/eventually.ts";
import { UserAgent } from "../../kit/user-agent.ts";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { runProgram } from "../kit/program.ts";
import { post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { type GateObject, gateOf, ValveRig } from "./valve-rig.ts";

const textOf = ({ result }: RpcMessage) => (result?.content as { text: string }[] | undefined)?.[0]?.text ?? "";
/** The words of the command that a text tells to type, behind the program's name. */
const commandIn = (text: string) => /run "isthmus ([^"]*)"/.exec(text)?.[1]?.split(" ") ?? [];
const shortIn = (text: string) => commandIn(text)[1] ?? "";
const linkIn = (text: string) => /open (\S+) or/.exec(text)?.[1] ?? "";

describe("a newcomer who runs the demo", () => {
  let demo: RunningGateway;
  let number = 0;
  beforeAll(async () => {
    demo = await startGateway();
  });
  afterAll(() => demo[Symbol.asyncDispose]());

  const call = async (name: string) => {
    const { messages } = await post(demo.url, toolCall(1, "demo.forget", { name }));
    return messages.at(-1) ?? {};
  };
  const run = (...args: string[]) => runProgram(args, { env: { HOME: demo.program.folder } });

  test("is told where to say yes, in the answer's own text", async () => {
    const asked = await call(`Ada ${++number}`);
    const gate = gateOf(asked);
    const text = `Waits for a yes: open ${gate.confirm_url} or run "isthmus approve ${gate.confirmation_id.slice(0, 4)} --url ${demo.origin}", then call again.`;
    expect(textOf(asked)).toContain(text);
  });

  test("says yes with the command that the answer names, and nothing else", async () => {
    const name = `Ada ${++number}`;
    const { code, stdout, stderr } = await run(...commandIn(textOf(await call(name))));
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("Approved");
    expect((await call(name)).result).not.toMatchObject({ isError: true });
  });

  test("says yes with the command that `isthmus call` names, which was told where the gateway is", async () => {
    const { stderr } = await run("call", "demo.forget", `name=Ada ${++number}`, "--url", demo.origin);
    const [, told = ""] = /^isthmus: (open .*), then call again$/m.exec(stderr) ?? [];
    expect(stderr.split("/approvals/")).toHaveLength(2);
    const { code, stdout } = await run(...commandIn(told));
    expect([code, stdout]).toEqual([0, expect.stringContaining("Approved")]);
  });

  test("says no with the command, too", async () => {
    const short = shortIn(textOf(await call(`Ada ${++number}`)));
    const { code, stdout } = await run("deny", short, "--url", demo.origin);
    expect([code, stdout]).toEqual([0, expect.stringContaining("Denied")]);
  });

  test("is not asked again for a while about what they have denied, and the agent is told who said no", async () => {
    const name = `Ada ${++number}`;
    const short = shortIn(textOf(await call(name)));
    expect((await run("deny", short, "--url", demo.origin)).code).toBe(0);
    const again = await call(name);
    expect(again.result).toMatchObject({ isError: true, _meta: { "dev.isthmus/error": { code: "NOT_ALLOWED" } } });
    expect(textOf(again)).toMatch(
      /Denied by operator \(approval .*\)\. Nobody is asked about the same call again before 20.*Z\./,
    );
    expect((await run("approvals", "--url", demo.origin)).stdout).not.toContain(name);
  });

  test("says yes on the page that the answer names, after signing in with their token", async () => {
    const name = `Ada ${++number}`;
    const link = linkIn(textOf(await call(name)));
    const { stdout: token } = await run("operator", "token");
    const browser = new UserAgent();
    const page = await browser.submit(await browser.open(link), { sign: "in", token });
    expect(page.text).toContain("You are signed in as operator of default.");
    const done = await browser.submit(page, { decision: "approve" });
    expect(done.text).toContain("Approved");
    expect((await call(name)).result).not.toMatchObject({ isError: true });
  });

  test("is not the agent, who has the link and the interface, but not the token", async () => {
    const gate = gateOf(await call(`Ada ${++number}`));
    const approve = new URL(`/api/approvals/${gate.confirmation_id}/approve`, demo.url);
    const deny = new URL(`/api/approvals/${gate.confirmation_id}/deny`, demo.url);
    for (const authorization of ["", "Bearer x", "Bearer isop_"]) {
      const body = { method: "POST", headers: { authorization, "content-type": "application/json" }, body: "{}" };
      for (const url of [approve, deny]) expect((await fetch(url, body)).status).toBe(403);
    }
    const browser = new UserAgent();
    const page = await browser.open(String(gate.confirm_url));
    for (const decision of ["approve", "deny"]) {
      expect((await browser.submit(page, { decision })).status).toBe(403);
    }
    expect((await browser.submit(page, { sign: "in", token: "isop_guess" })).status).toBe(403);
  });
});

describe("an operator with a token", () => {
  const AUTH = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';
  const TOKENS = {
    agent: "--user ada",
    operator: "--user bob --role operator",
    own: "--user ada --role operator",
    admin: "--user root --role admin",
    sameName: `--user ${userInfo().username}`,
  };
  let rig: ValveRig;
  let number = 0;
  beforeAll(async () => {
    rig = await ValveRig.start({ gate: 'hold = "50ms"\nevidence = "operator"', more: AUTH, tokens: TOKENS });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const ask = async () => gateOf(await rig.call("plant.open", { number: ++number }, rig.as("agent")));
  const approve = ({ confirmation_id }: GateObject, who: string, ...more: string[]) =>
    runProgram(["approve", confirmation_id, "--url", rig.url, ...more], {
      env: { ISTHMUS_TOKEN: rig.tokens[who] ?? "" },
    });

  test("approves by the command line, without a key", async () => {
    const { code, stdout } = await approve(await ask(), "operator");
    expect([code, stdout]).toEqual([0, expect.stringContaining("Approved")]);
    expect((await rig.call("plant.open", { number }, rig.as("agent"))).result).toMatchObject({
      content: [{ text: "did open" }],
    });
  });

  test("who is the user that asks is told that nobody approves for themselves", async () => {
    const { code, stderr } = await approve(await ask(), "own");
    expect([code, stderr]).toEqual([1, expect.stringContaining("nobody approves what they ask for themselves")]);
  });

  test.each([
    ["brought with a token", () => ({ ISTHMUS_TOKEN: rig.tokens.operator ?? "" })],
    ["brought by whoever runs the gateway", () => ({ HOME: rig.gateway.program.folder })],
  ])("is told of a signature in the caller's name who must sign instead, %s", async (_how, env) => {
    const gate = gateOf(await rig.call("plant.open", { number: ++number }, rig.as("sameName")));
    const key = join(rig.folder, "operator.key");
    writeFileSync(key, rig.keyText, { mode: 0o600 });
    const words = ["approve", gate.confirmation_id, "--key", key, "--url", rig.url];
    const { code, stderr } = await runProgram(words, { env: env() });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`this signature is operator:${userInfo().username}'s`)]);
    expect(stderr).toContain("somebody else must sign it in an account of their own");
  });

  test("is signed out of the page when the token is revoked", async () => {
    const { confirm_url } = await ask();
    const admin = (...words: string[]) =>
      runProgram(["token", ...words, "--url", rig.url], { env: { ISTHMUS_TOKEN: rig.tokens.admin ?? "" } });
    const { stdout } = await admin("create", "--user", "eve", "--role", "operator", "--json");
    const { token, id } = JSON.parse(stdout) as { token: string; id: string };
    const browser = new UserAgent();
    const page = await browser.submit(await browser.open(String(confirm_url)), { sign: "in", token });
    expect(page.text).toContain("You are signed in as eve of default.");
    expect((await admin("revoke", id)).code).toBe(0);
    await eventually(
      async () => (await browser.open(String(confirm_url))).text,
      (text) => !text.includes("You are signed in as eve of default."),
    );
    expect((await browser.submit(page, { decision: "approve" })).status).toBe(403);
  });

  test("is told what to configure where only a signature counts", async () => {
    await using strict = await ValveRig.start({ more: AUTH, tokens: TOKENS });
    const gate = gateOf(await strict.call("plant.open", {}, strict.as("agent")));
    const { code, stderr } = await runProgram(["approve", gate.confirmation_id, "--url", strict.url], {
      env: { ISTHMUS_TOKEN: strict.tokens.operator ?? "" },
    });
    expect([code, stderr]).toEqual([1, expect.stringMatching(/isthmus operator init[\s\S]*evidence = "operator"/)]);
  });
});

describe("whoever runs a gateway that asks callers who they are, and trusts their key", () => {
  test.each(["approve", "deny"])("has %s taken with the key alone, without a token", async (verb) => {
    const home = mkdtempSync(join(tmpdir(), "isthmus-home-"));
    const env = { HOME: home };
    const { stdout: anchor } = await runProgram(["operator", "init"], { env });
    const key = /^key = .*$/m.exec(anchor)?.[0] ?? "";
    const auth = `[[gate.anchors]]\n${key}\n[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n`;
    await using rig = await ValveRig.start({ more: auth, tokens: { agent: "--user ada" }, env });
    const { confirmation_id } = gateOf(await rig.call("plant.open", {}, rig.as("agent")));
    const { code, stdout, stderr } = await runProgram([verb, confirmation_id, "--yes", "--url", rig.url], { env });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(verb === "approve" ? "Approved" : "Denied");
    rmSync(home, { recursive: true });
  });
});

describe("a config that gates and trusts nobody", () => {
  const MUTE = '[gate]\nevidence = "external_proof"\n[[servers]]\nid = "plant"\ncommand = "node"\n';
  const warnings = ({ program }: RunningGateway) =>
    program.stderr.match(/"message":"nobody can approve"/g)?.length ?? 0;

  test("says so at the start, and again with each reload", async () => {
    await using rig = await ValveRig.start();
    const own = rig.config().replace(/state = .*/, `state = ${JSON.stringify(join(rig.folder, "other"))}`);
    const config = own.replace(/\[\[gate.anchors\]\]\nkey = .*\n/, "");
    const mute = config.replace("[gate]", '[gate]\nevidence = "external_proof"');
    await using gateway = await startGateway({ config: mute });
    expect(warnings(gateway)).toBe(1);
    const file = join(gateway.program.folder, "isthmus.toml");
    writeFileSync(file, `${mute}\n[[servers]]\nid = "other"\ncommand = "nothing-there"\n`);
    await eventually(
      () => warnings(gateway),
      (seen) => seen === 2,
    );
    writeFileSync(file, config);
    await eventually(
      () => gateway.program.stderr.match(/"config taken over"/g)?.length,
      (seen) => seen === 2,
    );
    expect(warnings(gateway)).toBe(2);
    writeFileSync(file, mute);
    await eventually(
      () => warnings(gateway),
      (seen) => seen === 3,
    );
  });

  test("is a finding of doctor, with what to write", async () => {
    const { stdout } = await runProgram(["doctor", "--json", "--timeout", "1s"], { config: MUTE });
    const { findings } = JSON.parse(stdout) as { findings: { about?: string }[] };
    expect(JSON.stringify(findings)).toMatch(/nobody can give[\s\S]*gate.anchors[\s\S]*evidence = /);
  });
});
