import { expect, test, vi } from "vitest";
import { Workspace } from "../identity/workspace.ts";
import { helloServer } from "../kit/gateway.ts";
import { post, toolCall } from "../kit/rpc.ts";

test("arguments are captured by the name that rules have for a tool, or by its server's id, and a name of nothing is told", async () => {
  const capture = (tool: string) => `[[audit.capture]]\ntools = ["${tool}"]\narguments = ["name"]\n`;
  const hello = (id: string, prefix: string) => helloServer(id, `prefix = "${prefix}"`);
  const rules = ["one.greet", "srv2.greet", "three.greeet"].map(capture).join("");
  const servers = hello("srv1", "one") + hello("srv2", "two") + hello("srv3", "three");
  await using place = new Workspace(`[audit]\n${rules}${servers}`);
  const origin = await place.up("127.0.0.1:0");
  for (const prefix of ["one", "two", "three"])
    expect(
      (await post(`${origin}/mcp`, toolCall(1, `${prefix}.greet`, { name: "Ann" }))).messages[0]?.result,
    ).toBeDefined();
  type Kept = { readonly target: { readonly server_id: string }; readonly details: { readonly captured?: object } };
  await vi.waitFor(async () => {
    const { events } = (await (await fetch(`${origin}/api/audit?event_type=TOOL_EXECUTED`)).json()) as {
      events: Kept[];
    };
    expect(events.map(({ target, details }) => [target.server_id, details.captured]).reverse()).toEqual([
      ["srv1", { name: "Ann" }],
      ["srv2", { name: "Ann" }],
      ["srv3", undefined],
    ]);
  });
  const told = () => place.log.split("\n").filter((line) => line.includes("names what is not there now"));
  await vi.waitFor(() => expect(told()).toHaveLength(1));
  expect(told()[0]).toContain("three.greeet");
});
