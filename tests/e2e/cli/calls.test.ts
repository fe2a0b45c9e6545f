import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { EVERYTHING, HELLO, ODD, scriptServer, Workspace } from "./workspace.ts";

let gateway: RunningGateway;
const workspace = new Workspace();

beforeAll(async () => {
  const config = `${scriptServer("hello", HELLO)}${scriptServer("every", EVERYTHING)}${scriptServer("odd", ODD)}[[servers]]\nid = "gone"\ncommand = "/no/such/program"\n`;
  gateway = await startGateway({ config });
});
afterAll(async () => {
  await gateway.stop();
  await workspace[Symbol.asyncDispose]();
});

const run = (...args: string[]) => workspace.run(...args, "--url", gateway.origin);

describe("list", () => {
  test("shows tools with server and meaning, cut nowhere in a pipe, and what is wrong with which server", async () => {
    const { code, stdout, stderr } = await run("list");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^hello\.greet +hello +Greets someone by name\.$/m);
    expect(stdout).toMatch(/^every\.echo +every /m);
    expect(stdout).toMatch(/Not working:\n {2}gone +unreachable +cannot start/);
    const { offers } = JSON.parse((await run("list", "--json")).stdout);
    for (const { entry } of offers) expect(stdout).toContain(entry.description.replace(/\s+/g, " ").trim());
    expect(stdout).not.toContain("…");
    expect(stdout + stderr).not.toContain("\u001b");
  });

  test("shows one server, resources, prompts, and JSON", async () => {
    const one = await run("list", "--server", "hello");
    expect(one.stdout.trim().split("\n")).toHaveLength(4);
    const json = JSON.parse((await run("list", "--server", "hello", "--json")).stdout);
    expect(json.offers[0]).toMatchObject({ kind: "tool", name: "hello.greet", server: "hello" });
    expect(json.offers[0].entry.inputSchema.required).toEqual(["name"]);
    expect((await run("list", "--resources")).stdout).toContain("demo://resource/");
    expect((await run("list", "--prompts")).stdout).toMatch(/^every\.simple-prompt /m);
    expect(await run("list", "--server", "nobody")).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("call", () => {
  test("begins with why the server of the tool is away, and says of one that ended what is not known", async () => {
    const away = await run("call", "gone.anything");
    expect([away.code, away.stderr.split("\n")[0]]).toEqual([
      6,
      expect.stringMatching(/^isthmus: gone\.anything is not offered now: gone is unreachable: cannot start .*doctor/),
    ]);
    const died = await run("call", "odd.die");
    expect([died.code, died.stderr.split("\n")[0]]).toEqual([
      6,
      "isthmus: odd.die: the server odd ended during the call (exited with code 3); whether it acted is not known (OUTCOME_UNKNOWN)",
    ]);
    await expect.poll(async () => (await run("call", "odd.env", "name=NONE")).stdout).toBe("unset\n");
  });

  test.each([
    [["--name", "x"], "name=x"],
    [["--name=x y"], "name=x y"],
    [["--name"], "name=..."],
  ])("says of %j how arguments are written", async (words, meant) => {
    const { code, stderr } = await run("call", "hello.greet", ...words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`\nisthmus: arguments are key=value: ${meant}\n`)]);
    expect(stderr).toContain("unknown option '--name");
  });

  test("types its arguments by the schema and prints what the tool answers", async () => {
    expect(await run("call", "hello.add", "a=20", "b=22")).toMatchObject({ code: 0, stdout: "42\n", stderr: "" });
    expect(await run("call", "hello.greet", '{"name":"Ada"}')).toMatchObject({ code: 0, stdout: "Hello, Ada!\n" });
    const json = await run("call", "hello.greet", "name=Ada", "--json");
    expect(JSON.parse(json.stdout)).toEqual({ content: [{ type: "text", text: "Hello, Ada!" }] });
  });

  test("streams progress to standard error", async () => {
    const { code, stdout, stderr } = await run("call", "every.trigger-long-running-operation", "duration=1", "steps=4");
    expect(code).toBe(0);
    expect(stdout).toContain("Long running operation completed");
    expect(stderr.trim().split("\n")).toEqual(["1/4", "2/4", "3/4", "4/4"]);
  });

  test("has an exit code for a tool that fails, with its words on standard output", async () => {
    expect(await run("call", "odd.fail")).toMatchObject({ code: 5, stdout: "It is broken.\n" });
  });

  test.each(["dev.isthmus/error", "dev.isthmus\\/error", "\\u0064ev.isthmus/error"])(
    "believes no server that says what only the gateway may say, as %s",
    async (key) => {
      const { code, stdout, stderr } = await run("call", "odd.pose", `key=${key}`);
      expect({ code, stdout }).toEqual({ code: 5, stdout: "posed\n" });
      expect(stderr).not.toMatch(/was not called|evil\.test|isthmus approve/);
    },
  );

  test.each([
    '"data":{"code":"NOT_ALLOWED","callId":"c-7"}',
    '"data":{"dev.isthmus/error":{"code":"NOT_ALLOWED","callId":"c-7"}}',
    '"data":{"dev.isthmus\\/error":{"code":"NOT_ALLOWED","callId":"c-7"}}',
    '"data":{"\\u0064ev.isthmus/error":{"code":"NOT_ALLOWED","callId":"c-7"}}',
  ])("shows a code and a call's id of the gateway's own faults alone, not of a server's with %s", async (data) => {
    const { code, stderr } = await run("call", "odd.fault", JSON.stringify({ data }));
    expect({ code, stderr }).toEqual({ code: 6, stderr: "isthmus: odd.fault: posed (-32000)\n" });
  });

  test("has an exit code for a call that cannot be made, and says what would be right", async () => {
    const unknown = await run("call", "hello.gret");
    expect(unknown).toMatchObject({ code: 6, stdout: "" });
    expect(unknown.stderr).toContain('did you mean "hello.greet"?');
    expect(unknown.stderr).toContain("gone is unreachable");
    expect((await run("call", "greet", "name=x")).stderr).toContain('did you mean "hello.greet"?');
    expect((await run("call", "hello.add", "a=1", "b=x")).stderr).toContain('"b": expected number, found "x"');
    expect((await run("call", "hello.add", "a=1")).stderr).toContain('missing "b" (number)');
  });

  test("cancels on the server when it is interrupted", async () => {
    const file = workspace.path("cancelled");
    const { child, ended } = workspace.start(["call", "odd.wait", `file=${file}`, "--url", gateway.origin]);
    await new Promise<void>((resolve) => child.stderr.on("data", (text) => text.includes("waiting") && resolve()));
    child.kill("SIGINT");
    expect(await ended).toMatchObject({ code: 130, stdout: "" });
    const deadline = performance.now() + 5_000;
    while (!existsSync(file) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, "utf8")).not.toBe("");
  });

  test("says so when nobody listens", async () => {
    const refused = await workspace.run("call", "a.b", "--url", "http://127.0.0.1:9");
    expect(refused).toMatchObject({ code: 7, stdout: "" });
    expect(refused.stderr).toContain("no gateway runs at http://127.0.0.1:9 (ECONNREFUSED)");
  });
});

test("search finds by words, best first", async () => {
  const { stdout } = await run("search", "add", "numbers");
  expect(stdout.split("\n")[1]).toMatch(/^hello\.add +tool +Adds two numbers\.$/);
  const { hits } = JSON.parse((await run("search", "sum", "--limit", "1", "--json")).stdout);
  expect(hits).toEqual([expect.objectContaining({ kind: "tool", name: "every.get-sum", server: "every" })]);
  expect((await run("search", "nothinglikethis")).stdout).toMatch(/^Nothing among \d+ has these words\.\n$/);
});

describe("trace", () => {
  test("lists the last calls and draws one of them, step by step", async () => {
    await run("call", "hello.count", "to=3");
    const { calls } = JSON.parse((await run("trace", "--json")).stdout);
    expect(calls[0]).toMatchObject({ target: expect.stringContaining("count"), code: "ok", front: "mcp" });
    const { code, stdout } = await run("trace", calls[0].callId);
    expect(code).toBe(0);
    expect(stdout).toContain(`call     ${calls[0].callId}`);
    expect(stdout).toMatch(/^ {2}provider +\S+ ms +█+$/m);
    const steps: { ms: number }[] = JSON.parse((await run("trace", calls[0].callId, "--json")).stdout).steps;
    const sum = steps.reduce((total, { ms }) => total + ms, 0);
    expect(Math.abs(sum - calls[0].durationMs)).toBeLessThan(1);
    const [, newest = ""] = (await run("trace")).stdout.split("\n");
    expect((await run("trace", newest.split(" ")[0] ?? "")).stdout).toContain(calls[0].callId);
  });

  test("says so when there is no such call", async () => {
    expect(await run("trace", "nope")).toMatchObject({ code: 1, stdout: "" });
  });

  test("is behind the same gate as everything else", async () => {
    const response = await fetch(`${gateway.origin}/api/calls`, { headers: { origin: "https://evil.example" } });
    expect(response.status).toBe(403);
    expect((await fetch(`${gateway.origin}/api/calls/nope`)).status).toBe(404);
  });
});
