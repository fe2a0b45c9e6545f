import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { type Block, type PolicyEntry, type Run, untracked } from "../../contract/index.ts";
import { LivePolicy, MemoryPolicy } from "../../mechanisms/access/index.ts";
import { loadConfig } from "../config/load-config.ts";
import type { LiveParts } from "./live-parts.ts";
import { endSwitchedOff, watchSwitches } from "./switched-off.ts";

type Switch = { server: string; protocol: string; primitive: string; enabled: boolean };
const OFF: Switch = { server: "files", protocol: "mcp", primitive: "", enabled: false };

async function rig() {
  const rows = new MemoryPolicy();
  const policy = new LivePolicy({ rows, timers: new ManualTime(), log: new KeptLog() });
  const heard: Block[] = [];
  watchSwitches(policy, (block) => heard.push(block));
  await policy.open();
  const set = async (value: Switch, tenant = "t") => {
    const key = [value.server, value.protocol, value.primitive].join(" ");
    const entry: PolicyEntry = {
      tenant,
      kind: "exposure",
      key,
      value: JSON.stringify(value),
      updatedAt: 0,
      updatedBy: "ops",
    };
    const event = { type: "dev.isthmus.config.reloaded", tenant, result: "SUCCESS", details: {} } as const;
    await policy.change({
      trail: untracked((changes) => rows.write(changes)),
      event: { ...event, actor: { type: "operator", id: "ops" }, target: { server: "", name: "" } },
      changes: [{ table: "policy", type: "put", entry }],
    });
  };
  return { set, heard };
}

const table = { servers: [{ id: "files", prefix: "docs", command: "node" }] };
const CONFIG = loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} });

/** What ends of a call and a session, both at a server of that name. */
function ended(
  block: Partial<Block>,
  tenant = "t",
  { kind = "tool", name = "read" }: { kind?: "tool" | "resource"; name?: string } = {},
): { call: boolean; session: boolean } {
  const seen = { call: false, session: false };
  const principal = {
    id: "x",
    identity: { tenant, user: "u", client: "c", groups: [], scopes: [], role: undefined, proof: "token" },
  } as const;
  const call = { principal, target: { provider: "files", kind, name }, origin: { front: "mcp" } };
  const run = {
    call,
    cancel: () => {
      seen.call = true;
    },
  } as unknown as Run;
  const sessions = {
    endWhere: (isMeant: (session: unknown) => boolean) => {
      seen.session = isMeant({ principal, catalog: "files" });
    },
  };
  const whole = { tenant: "t", server: "files", protocol: "mcp", primitive: "", ...block } as Block;
  endSwitchedOff(whole, { sessions, runs: () => [run], config: () => CONFIG } as unknown as LiveParts);
  return seen;
}

describe("a switch", () => {
  test("is told once when it is switched off, and again when it was on in between", async () => {
    const { set, heard } = await rig();
    await set(OFF);
    await set({ ...OFF, server: "other", enabled: true });
    expect(heard).toMatchObject([{ subject: "everybody", tenant: "t", server: "files", protocol: "mcp" }]);
    await set({ ...OFF, enabled: true });
    await set(OFF);
    expect(heard).toHaveLength(2);
  });

  test("for every server or tenant asks for none", async () => {
    const { set, heard } = await rig();
    await set({ ...OFF, server: "*", protocol: "*" }, "*");
    expect(heard).toMatchObject([{ tenant: "", server: "", protocol: "" }]);
  });
});

describe("what is switched off", () => {
  test("ends where tenant, server and protocol are meant, and nowhere else [AP-148]", () => {
    expect(ended({})).toEqual({ call: true, session: true });
    expect(ended({ tenant: "" }, "u")).toEqual({ call: true, session: true });
    expect(ended({}, "u")).toEqual({ call: false, session: false });
    expect(ended({ server: "other" })).toEqual({ call: false, session: false });
    expect(ended({ protocol: "a2a" })).toEqual({ call: false, session: false });
  });

  test("as one primitive ends its calls, and no session", () => {
    expect(ended({ primitive: "read" })).toEqual({ call: true, session: false });
    expect(ended({ primitive: "docs.re*" })).toEqual({ call: true, session: false });
    expect(ended({ primitive: "write" })).toEqual({ call: false, session: false });
    expect(ended({ primitive: "files.read" })).toEqual({ call: false, session: false });
  });

  test.each(["file:///pay%20roll.txt", "file:///pay roll.txt", "docs.file:///pay%20roll.txt"])(
    "ends what is read by another spelling of %s",
    (primitive) => {
      const read = (name: string) => ended({ primitive }, "t", { kind: "resource", name }).call;
      expect(["file:///pay roll.txt", "file:///pay%20roll.txt", "file:///pay"].map(read)).toEqual([true, true, false]);
    },
  );

  test("as a primitive of everybody's ends none of another", () => {
    expect(ended({ primitive: "other.read" })).toEqual({ call: false, session: false });
  });
});
