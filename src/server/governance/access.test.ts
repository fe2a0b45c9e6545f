import { describe, expect, test } from "vitest";
import { FakeMeter } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { who } from "../../../tests/kit/policy-rig.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { type PolicyEntry, untracked } from "../../contract/index.ts";
import { LivePolicy, MemoryPolicy } from "../../mechanisms/access/index.ts";
import { loadConfig } from "../config/load-config.ts";
import { createAccess } from "./access.ts";
import { watchSwitches } from "./switched-off.ts";

type Kind = PolicyEntry["kind"];

const grant = (agent: string, permission: string) =>
  JSON.stringify({ type: "server_grant", agent, server: "files", tool: "", permission, justification: "" });
const off = JSON.stringify({ server: "mail", protocol: "*", primitive: "", enabled: false });

/** A process over a store that others write. */
async function rig(...rows: readonly [Kind, string, string][]) {
  const time = new ManualTime();
  const log = new KeptLog();
  const memory = new MemoryPolicy();
  const policy = new LivePolicy({ rows: memory, timers: time, log });
  watchSwitches(policy, () => undefined);
  const table = { access: { defaultPolicy: "opt-in" } };
  const config = loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} });
  const parts = { config, policy, log, clock: time, timers: time, meter: new FakeMeter() };
  const trail = untracked(() => Promise.resolve(true));
  const live = { offered: () => [] };
  const governed = createAccess({
    ...parts,
    live,
    trail: () => trail,
    blocks: () => undefined,
    onReach: () => undefined,
  });
  const put = (kind: Kind, key: string, value: string) =>
    memory.write([
      {
        table: "policy",
        type: "put",
        entry: { tenant: "default", kind, key, value, updatedAt: 1, updatedBy: "ops" },
      },
    ]);
  const remove = (kind: Kind, key: string) =>
    memory.write([{ table: "policy", type: "remove", tenant: "default", kind, key }]);
  for (const [kind, key, value] of rows) await put(kind, key, value);
  await policy.open();
  const may = (user: string, server = "files") => {
    const question = {
      server,
      kind: "tool",
      name: "read",
      dotted: `${server}.read`,
      protocol: "mcp",
      catalog: "",
    } as const;
    return governed.access.ask(who(user), question).decision.effect === "allow";
  };
  return { governed, log, policy, put, remove, may };
}

describe("a row of the policy that cannot be read", () => {
  test.each<[string, Kind, string]>([
    ["a deny of a form that nobody here knows", "grant", grant("eve", "forbid")],
    ["no JSON", "exposure", "{"],
    ["nothing", "binding", "null"],
    ["a default that nobody here knows", "setting", '{"server":"*","policy":"ask-me"}'],
  ])("keeps the gateway from starting, and is named: %s", async (_what, kind, value) => {
    const key = kind === "setting" ? "default:x" : "x";
    const { governed } = await rig(["grant", "all", grant("*", "allow")], [kind, key, value]);
    const row = JSON.stringify({ tenant: "default", kind, key });
    expect(() => governed.open()).toThrow(
      expect.objectContaining({ code: "STATE_UNAVAILABLE", message: expect.stringContaining(row) }),
    );
  });

  test("does not keep what operators take away from being gone", async () => {
    const { governed, log, policy, put, remove, may } = await rig(
      ["grant", "ann", grant("ann", "allow")],
      ["grant", "bob", grant("bob", "allow")],
    );
    governed.open();
    await put("exposure", "new", "{");
    await remove("grant", "ann");
    await policy.refresh();
    expect([may("ann"), may("bob")]).toEqual([false, true]);
    expect(log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
    await remove("exposure", "new");
    await put("grant", "ann", grant("ann", "allow"));
    await policy.refresh();
    expect([may("ann"), may("bob")]).toEqual([true, true]);
  });

  test("lets nobody do more than before: what denies holds, what allows waits", async () => {
    const { governed, policy, put, may } = await rig(
      ["grant", "all", grant("*", "allow")],
      ["grant", "eve", grant("eve", "deny")],
      ["grant", "mail", grant("*", "allow").replace("files", "mail")],
    );
    governed.open();
    await put("grant", "eve", grant("eve", "forbid"));
    await put("grant", "bob", grant("bob", "deny"));
    await put("grant", "chat", grant("*", "allow").replace("files", "chat"));
    await put("exposure", "mail", off);
    await policy.refresh();
    expect([may("eve"), may("bob"), may("ann")]).toEqual([false, false, true]);
    expect([may("ann", "mail"), may("ann", "chat")]).toEqual([false, false]);
    await put("grant", "all", "{");
    await policy.refresh();
    expect([may("eve"), may("ann")]).toEqual([false, false]);
  });
});
