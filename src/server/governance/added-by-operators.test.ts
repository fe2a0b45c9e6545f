import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import type { PolicyEntry } from "../../contract/index.ts";
import { LivePolicy, MemoryPolicy } from "../../mechanisms/access/index.ts";
import type { AddedTables } from "../config/index.ts";
import { AddedByOperators } from "./added-by-operators.ts";

const row = (kind: PolicyEntry["kind"], key: string, value: string): PolicyEntry => ({
  tenant: "default",
  kind,
  key,
  value,
  updatedAt: 1,
  updatedBy: "somebody",
});

/** The store has these rows, whoever wrote them. */
async function rig(...entries: readonly PolicyEntry[]) {
  const rows = new MemoryPolicy();
  const log = new KeptLog();
  const policy = new LivePolicy({ rows, timers: new ManualTime(), log });
  const source = { added: { servers: [], catalogs: [] } as AddedTables };
  const following = { source, reload: async () => undefined, isStale: () => false };
  const added = new AddedByOperators(policy, { following: () => following }, log);
  await rows.write(entries.map((entry) => ({ table: "policy", type: "put", entry })));
  await policy.open();
  await added.takeOver();
  const write = (entry: PolicyEntry) => rows.write([{ table: "policy", type: "put", entry }]);
  return { added, log, source, write };
}

const ids = (tables: readonly { readonly id: string }[]) => tables.map(({ id }) => id);

describe("what operators have added", () => {
  const url = "http://127.0.0.1:9/mcp";

  test("is taken over as it was given", async () => {
    const headers = { Authorization: { fromEnv: "ISTHMUS_SERVER_FAR" } };
    const { source, log } = await rig(
      row("server", "far", JSON.stringify({ url, headers })),
      row("catalog", "few", JSON.stringify({ include: ["far.*"] })),
    );
    expect(source.added).toEqual({
      servers: [{ id: "far", url, headers }],
      catalogs: [{ id: "few", include: ["far.*"] }],
    });
    expect(log.lines).toEqual([]);
  });

  test.each([
    ["starts a program", "far", { command: "sh", args: ["-c", "id"] }],
    ["starts a program beside its URL", "far", { url, command: "sh" }],
    ["sends a file", "far", { url, headers: { X: { fromFile: "/etc/passwd" } } }],
    ["sends a variable of the gateway's own", "far", { url, headers: { X: { fromEnv: "ISTHMUS_VAULT_KEY" } } }],
    ["sends a variable inside a text", "far", { url, headers: { X: "$" + "{ISTHMUS_VAULT_KEY}" } }],
    ["has an id that is a path", "../far", { url }],
    ["is no table", "far", [url]],
  ])("is left out, and on the log once, where a row of the store %s", async (_what, id, table) => {
    const { added, source, log } = await rig(
      row("server", id, JSON.stringify(table)),
      row("server", "good", JSON.stringify({ url })),
    );
    expect(ids(source.added.servers)).toEqual(["good"]);
    expect(added.find("server", id)).toBeUndefined();
    expect(ids(added.with("server", "other", { url }).servers)).toEqual(["good", "other"]);
    expect(log.lines).toMatchObject([{ level: "error", fields: { kind: "server", key: id } }]);
  });

  test("can be removed although it cannot be read, and although another process has just added it", async () => {
    const { added, write } = await rig(row("server", "far", "{"));
    expect(added.find("server", "far")).toBeUndefined();
    await write(row("catalog", "new", "{}"));
    expect([await added.isThere("server", "far"), await added.isThere("catalog", "new")]).toEqual([true, true]);
    expect(await added.isThere("server", "new")).toBe(false);
  });
});
