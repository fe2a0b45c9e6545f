import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog, KeptMeter } from "../../../tests/kit/quiet.ts";
import { ScriptedProvider, toolNamed } from "../../../tests/kit/scripted-provider.ts";
import { planned } from "../../../tests/kit/test-catalog.ts";
import { testKernel } from "../../../tests/kit/test-kernel.ts";
import { LOCAL, payload } from "../../contract/index.ts";
import { stampOf } from "../../fronts/mcp/lists.ts";
import { createVoice } from "../../fronts/mcp/voice.ts";
import { createSessions } from "../../mechanisms/sessions/index.ts";

/** A provider that has nothing until the test says so. */
class LateProvider extends ScriptedProvider {
  override async open(host: Parameters<ScriptedProvider["open"]>[0]): Promise<void> {
    this.host = host;
  }

  has(...tools: string[]): void {
    void this.host?.offer("shared", [{ kind: "tool", primitives: tools.map((name) => toolNamed(name)), extras: "" }]);
  }
}

async function setup() {
  const time = new ManualTime();
  const sessions = createSessions({ clock: time, timers: time, log: new KeptLog(), meter: new KeptMeter() });
  const late = new LateProvider("late", []);
  const { kernel } = await testKernel([new ScriptedProvider("early", ["x"]), late], { sessions, timers: time });
  kernel.arrange({ naming: "dotted", catalogs: [planned({ include: ["early.*", "late.shown*"] })] });
  time.advance(100);
  const voice = createVoice(kernel.catalog);
  /** A client that has listed the tools of its catalog. */
  const clientOf = (catalog: string) => {
    const about = { capabilities: payload("{}"), clientInfo: payload("{}"), canBeAsked: false };
    const session = sessions.create({ voice, principal: { id: "local" }, catalog, protocol: "2025-11-25", ...about });
    session.isEntered = true;
    session.seen = { tool: stampOf(kernel.catalog.view(catalog, session).list("tool")) };
    const told: string[] = [];
    sessions
      .outboxOf(session)
      .open({ write: (text) => told.push(text) > 0, end: () => undefined, listener: LOCAL, canReplay: false });
    return told;
  };
  const changed = (...tools: string[]) => {
    late.has(...tools);
    time.advance(100);
  };
  return { clientOf, changed };
}

describe("a change of what a server offers", () => {
  test("is told to clients that listed before it came, in every catalog that shows it", async () => {
    const { clientOf, changed } = await setup();
    const [everything, ops, own, other] = ["", "ops", "late", "early"].map(clientOf);
    changed("shown", "hidden");
    for (const told of [everything, ops, own]) expect(told?.join()).toContain("notifications/tools/list_changed");
    expect(other).toEqual([]);
  });

  test("is not told to a client whose catalog does not show it", async () => {
    const { clientOf, changed } = await setup();
    changed("shown");
    const [everything, ops] = ["", "ops"].map(clientOf);
    changed("shown", "hidden");
    expect([everything?.length, ops?.length]).toEqual([1, 0]);
    changed("shown_too");
    expect([everything?.length, ops?.length]).toEqual([2, 1]);
  });
});
