import { describe, expect, test } from "vitest";
import { noSessions } from "../../tests/kit/quiet.ts";
import { ScriptedProvider, toolNamed } from "../../tests/kit/scripted-provider.ts";
import { listed } from "../../tests/kit/test-catalog.ts";
import { flush, testKernel } from "../../tests/kit/test-kernel.ts";
import {
  LOCAL,
  type Notice,
  type Offer,
  type PinRemark,
  payload,
  type SessionRef,
  type Steps,
} from "../contract/index.ts";
import type { OfferScreen } from "./screening.ts";

const since = "2026-01-01T00:00:00Z";
const held: PinRemark = { status: "held", since, what: ["description"] };
const changed: PinRemark = { status: "changed", since, what: ["name"], was: "old" };

/** Says about each tool what the test wants said. */
class TestScreen implements OfferScreen {
  remarks: Record<string, PinRemark> = {};
  readonly profiles: string[] = [];
  readonly gone: string[] = [];

  *screen(_provider: string, profile: string, offers: readonly Offer[]): Steps<readonly Offer[]> {
    this.profiles.push(profile);
    return offers.map(({ pins: _former, ...offer }) => {
      const names = new Set(offer.primitives.map(({ name }) => name));
      return { ...offer, pins: new Map(Object.entries(this.remarks).filter(([name]) => names.has(name))) };
    });
  }

  lost(provider: string): void {
    this.gone.push(provider);
  }
}

const session: SessionRef = {
  id: "s1",
  principal: { id: "local" },
  catalog: "",
  protocol: "test",
  capabilities: payload('{"sampling":{}}'),
  clientInfo: payload("{}"),
  canBeAsked: true,
  isEphemeral: false,
};

async function rig(remarks: Record<string, PinRemark>, tools: readonly string[] = ["a", "b", "c"]) {
  const screen = new TestScreen();
  screen.remarks = remarks;
  const provider = new ScriptedProvider("p", tools);
  const notices: Notice[] = [];
  const sessions = { ...noSessions, notice: (notice: Notice) => void notices.push(notice) };
  const kit = await testKernel([provider, new ScriptedProvider("q", ["x"])], { screen, sessions });
  return { ...kit, screen, provider, notices, view: () => kit.kernel.catalog.view("", LOCAL) };
}

describe("what is held back", () => {
  test("is neither listed nor found, and the list says so under the name it would have", async () => {
    const { view, log } = await rig({ b: held });
    expect(listed(view(), "tool")).toEqual(["p.a", "p.c", "q.x"]);
    expect(view().resolve("tool", "p.b")).toBeUndefined();
    expect(view().resolve("tool", "p.c")?.target.name).toBe("c");
    expect(JSON.parse(`{${view().list("tool").pins}}`)).toEqual({ "p.b": held });
    expect(log.lines).toContainEqual({
      level: "warn",
      message: "call to what is held back",
      fields: { kind: "tool", name: "p.b" },
    });
  });

  test("keeps its name: nothing else is reached under it", async () => {
    const { view } = await rig({ "b c": held }, ["b c", "b:c"]);
    expect(listed(view(), "tool")).toEqual(["p.b_c_2", "q.x"]);
    expect(view().resolve("tool", "p.b_c")).toBeUndefined();
  });

  test("keeps its name also where names are settled between servers", async () => {
    const { kernel, view } = await rig({ b: held });
    kernel.arrange({ naming: "underscore", catalogs: [] });
    expect(listed(view(), "tool")).toEqual(["p__a", "p__c", "q__x"]);
    expect(view().resolve("tool", "p__b")).toBeUndefined();
    expect(JSON.parse(`{${view().list("tool").pins}}`)).toEqual({ p__b: held });
  });

  test("comes back when it is judged anew, and clients are told", async () => {
    const { kernel, screen, time, notices, view } = await rig({ b: held });
    const before = view().list("tool");
    screen.remarks = {};
    time.advance(100);
    notices.length = 0;
    kernel.screenAgain();
    time.advance(100);
    expect(view().list("tool")).not.toBe(before);
    expect(listed(view(), "tool")).toEqual(["p.a", "p.b", "p.c", "q.x"]);
    expect(view().list("tool").pins).toBeUndefined();
    expect(notices).toMatchObject([{ from: "p", to: { catalog: ["tool"] } }]);
  });

  test("changes nothing when the verdict is the same", async () => {
    const { kernel, view } = await rig({ b: held });
    const before = view().list("tool");
    kernel.screenAgain();
    expect(view().list("tool")).toBe(before);
  });
});

describe("what has changed", () => {
  test("is listed and found, and the list says what has changed", async () => {
    const { view } = await rig({ a: changed });
    expect(listed(view(), "tool")).toEqual(["p.a", "p.b", "p.c", "q.x"]);
    expect(JSON.parse(`{${view().list("tool").pins}}`)).toEqual({ "p.a": changed });
    expect(view().list("tool").older.pins).toBe(view().list("tool").pins);
  });

  test("is told only where it is shown", async () => {
    const { kernel } = await rig({ a: changed, b: changed });
    const plan = {
      id: "few",
      include: ["p.b"],
      exclude: [],
      rename: { "p.b": "bee" },
      descriptions: {},
      resources: true,
    };
    kernel.arrange({ naming: "dotted", catalogs: [plan] });
    expect(JSON.parse(`{${kernel.catalog.view("few", LOCAL).list("tool").pins}}`)).toEqual({ bee: changed });
    expect(JSON.parse(`{${kernel.catalog.view("p", LOCAL).list("tool").pins}}`)).toEqual({ a: changed, b: changed });
    expect(kernel.catalog.view("q", LOCAL).list("tool").pins).toBeUndefined();
  });
});

test("an offer for one session is screened under what its client declared", async () => {
  const { kernel, screen, provider } = await rig({});
  provider.scope = async () => {
    void provider.host?.offer("session:s1", [{ kind: "tool", primitives: [toolNamed("own")], extras: "" }]);
    return "session:s1";
  };
  await kernel.catalog.enter("", session);
  await flush();
  expect(screen.profiles).toEqual(["", "", '{"sampling":{}}']);
});

test("the screen hears when a provider that was well is not", async () => {
  const { screen, provider } = await rig({});
  provider.host?.state({ status: "unreachable" });
  provider.host?.state({ status: "unreachable" });
  provider.host?.state({ status: "ok" });
  expect(screen.gone).toEqual(["p"]);
});
