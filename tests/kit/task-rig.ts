/** A rig whose one tool may go on as a task. */
import type { Principal } from "../../src/contract/index.ts";
import type { KeptTask } from "../../src/mechanisms/runs/index.ts";
import { type FakePrimitive, FakeView, okProvider } from "./fake-catalog.ts";
import { FakeRun } from "./fake-runs.ts";
import { mcpRig, until } from "./mcp-rig.ts";
import { META } from "./modern-client.ts";

/** What a client declares that takes tasks. */
export const TAKES_TASKS = { elicitation: { form: {} }, extensions: { [`${META}tasks`]: {} } };

const DEFINITION = '{"name":"files.echo","execution":{"taskSupport":"optional"}}';

export function taskView(outlasts: NonNullable<FakePrimitive["outlasts"]>, capabilities?: string): FakeView {
  const tool = { kind: "tool", name: "files.echo", own: "echo", definition: DEFINITION, outlasts } as const;
  return new FakeView(1, [okProvider("files", capabilities)], [tool]);
}

export async function taskRig(outlasts: NonNullable<FakePrimitive["outlasts"]>) {
  const rig = await mcpRig({ view: taskView(outlasts) });

  /** The run that the next call makes. */
  async function nextRun(): Promise<FakeRun> {
    const before = rig.runs.started.length;
    await until(() => rig.runs.started.length > before);
    return rig.runs.last;
  }

  /** A task that somebody else has. */
  function foreignTask(principal: Principal = { id: "other" }): KeptTask {
    const entry = rig.catalog.view().resolve("tool", "files.echo");
    if (!entry) throw new Error("the tool is gone");
    const origin = { front: "mcp", protocol: "", requestId: "1" };
    const input = entry.primitive.definition;
    const call = { entry, verb: "call", method: "tools/call", input, principal, origin, life: "bound" } as const;
    const terms = {
      mayAsk: () => true,
      refusal: ({ key }: { key: string }) => ({ key, outcome: "fault", payload: input }) as const,
    };
    const task = rig.tasks.keep(new FakeRun(call), { cursor: -1, asks: [] }, terms);
    if (!task) throw new Error("there is no room");
    return task;
  }

  return { ...rig, nextRun, foreignTask };
}
