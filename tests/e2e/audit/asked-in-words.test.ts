import { expect, test, vi } from "vitest";
import { Workspace } from "../identity/workspace.ts";
import { helloServer } from "../kit/gateway.ts";
import { post, toolCall } from "../kit/rpc.ts";

const TOKENS = '[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n';

test("whoever looks for calls is told where they are not recorded, and which type was meant", async () => {
  await using place = new Workspace(helloServer());
  const origin = await place.up("127.0.0.1:0");
  const query = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await place.run(["audit", "query", ...args], {
      ISTHMUS_LISTEN: new URL(origin).host,
    });
    expect([code, stdout]).toEqual([0, ""]);
    return stderr;
  };
  await post(`${origin}/mcp`, toolCall(1, "hello.greet", { name: "Ann" }));
  const said = await query("--type", "TOOL_EXECUTED");
  expect(said).toContain("no event of the trail is so");
  expect(said).toContain("calls are recorded only with [audit] in the config");
  expect(await query("--server", "hello")).toContain("only with [audit]");
  expect(await query("--type", "TOOL_BLOCKED")).toBe("isthmus: no event of the trail is so\n");
  expect(await query("--type", "TOOL_EXECUTD")).toContain("did you mean TOOL_EXECUTED?");
  expect(await query("--type", "authentication_failed")).toContain("did you mean dev.isthmus.authentication_failed?");
  expect(await query("--type", "something.else.entirely")).toContain("there are: TOOL_EXECUTED, ");
});

test("where calls are recorded, nobody is told that they are not", async () => {
  await using place = new Workspace(`[audit]\n${helloServer()}`);
  const origin = await place.up("127.0.0.1:0");
  const args = ["audit", "query", "--type", "TOOL_EXECUTED"];
  const { stderr } = await place.run(args, { ISTHMUS_LISTEN: new URL(origin).host });
  expect(stderr).toBe("isthmus: no event of the trail is so\n");
});

test("log and trail say what was wrong with credentials, where they were shown, and from which address", async () => {
  await using place = new Workspace(TOKENS + helloServer());
  const operator = await place.createToken("--user", "op", "--role", "operator");
  const origin = await place.up("127.0.0.1:0");
  const env = { ISTHMUS_LISTEN: new URL(origin).host, ISTHMUS_TOKEN: operator };
  for (const token of ["isth_wrong", `isth_${"A".repeat(43)}`]) {
    const response = await post(`${origin}/mcp`, toolCall(1, "hello.greet", {}), { authorization: `Bearer ${token}` });
    expect(response.status).toBe(401);
  }
  await vi.waitFor(async () => {
    const { stdout } = await place.run(["audit", "tail"], env);
    expect(stdout).toMatch(
      /dev\.isthmus\.authentication_failed DENIED unknown reason unknown POST \/mcp from 127\.0\.0\.1/,
    );
  });
  const { stdout } = await place.run(["logs"], env);
  expect(stdout).toMatch(/credentials refused.*unknown.*127\.0\.0\.1/);
});
