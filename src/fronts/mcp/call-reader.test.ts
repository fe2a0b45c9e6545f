import { describe, expect, test } from "vitest";
import { FakeRun } from "../../../tests/kit/fake-runs.ts";
import { mcpRig } from "../../../tests/kit/mcp-rig.ts";
import { LOCAL, payload } from "../../contract/index.ts";
import { CallReader } from "./call-reader.ts";
import type { Outlet } from "./outlet.ts";

/** Writes down in which order a run is told of its end and a client of the answer. */
async function losing(isKept: boolean): Promise<string[]> {
  await using rig = await mcpRig();
  const { "mcp-session-id": id = "" } = await rig.initialize();
  const session = rig.sessions.find(id, LOCAL);
  if (!session) throw new Error("there is no session");
  const order: string[] = [];
  const outlet: Outlet = {
    ...{ canStream: isKept, isKept, namesSession: false },
    opened: () => undefined,
    bind: () => undefined,
    send: () => true,
    answer: (text) => void order.push(text.includes("OUTCOME_UNKNOWN") ? "answered as unknown" : text),
    answerParts: () => undefined,
    drop: () => void order.push("stream ended"),
    release: () => false,
  };
  const reader = new CallReader(session, "1", "tools/call", undefined, outlet);
  const target = { provider: "files", kind: "tool", name: "echo" } as const;
  const primitive = { kind: "tool", name: "echo", definition: payload("{}"), repeatable: false } as const;
  const run = new FakeRun({
    ...{ entry: { name: "files.echo", target, primitive }, verb: "call", method: "tools/call", life: "resumable" },
    ...{ input: payload("{}"), principal: LOCAL, origin: { front: "mcp", protocol: "", requestId: "1" } },
  });
  const lose = run.lose.bind(run);
  run.lose = (reason) => {
    lose(reason);
    order.push("on record");
  };
  run.attach(reader, -1);
  reader.began(run);
  reader.lose("the session moved to another process");
  return order;
}

describe("a call whose session moved to another process", () => {
  test("is on record before its client hears that nobody knows how it ended", async () => {
    expect(await losing(false)).toEqual(["on record", "answered as unknown"]);
  });

  test("is on record before its stream ends, for which its client comes back", async () => {
    expect(await losing(true)).toEqual(["on record", "stream ended"]);
  });
});
