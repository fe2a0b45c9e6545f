import { describe, expect, test } from "vitest";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import type { AuditEvent, Principal } from "../../contract/index.ts";
import { NoteBudget } from "./note-budget.ts";
import { noteRefusals } from "./refusal-notes.ts";

function makeRig() {
  const time = new ManualTime();
  const events: AuditEvent[] = [];
  const trail = { note: (event: AuditEvent) => void events.push(event), commit: () => Promise.resolve(true) };
  return { time, events, note: noteRefusals(trail, time) };
}

const eve: Principal = {
  id: "eve",
  identity: { tenant: "acme", user: "eve", client: "c", groups: [], scopes: [], role: undefined, proof: "token" },
};

describe("what was turned away", () => {
  test("is on record with who, where from, what and why", () => {
    const { note, events } = makeRig();
    note({ reason: "session", principal: eve, address: "192.0.2.1", path: "/mcp", name: "files.read" });
    expect(events).toEqual([
      {
        type: "dev.isthmus.request_refused",
        tenant: "acme",
        actor: { type: "agent", id: "eve" },
        target: { server: "", name: "files.read" },
        result: "DENIED",
        details: { reason: "session", address: "192.0.2.1", path: "/mcp" },
      },
    ]);
  });

  test("leaves nothing on record that opens the page of an approval", () => {
    const { note, events } = makeRig();
    note({ reason: "host", path: "/approvals/0f8fad5b.secret?more" });
    expect(events).toMatchObject([{ details: { path: "/approvals/0f8fad5b" } }]);
    expect(JSON.stringify(events)).not.toContain("secret");
  });

  test("leaves nothing on record that opens it, wherever its link was sent", () => {
    const { note, events } = makeRig();
    const link = `/x/approvals/0f8fad5b-d9cb-469f-a165-70867728950e.${"s".repeat(43)}/mcp`;
    note({ reason: "http 404", path: link, name: `GET ${link}` });
    expect(events).toMatchObject([{ details: { path: "/x/approvals/0f8fad5b-d9cb-469f-a165-70867728950e/mcp" } }]);
    expect(JSON.stringify(events)).not.toContain("sss");
  });

  test("of somebody unknown is on record, too", () => {
    const { note, events } = makeRig();
    note({ reason: "http 400" });
    expect(events).toMatchObject([{ tenant: "default", actor: { id: "unknown" }, details: { reason: "http 400" } }]);
  });

  test.each([
    ["a token in the address", { path: "/mcp?access_token=isth_ABCDEFGHIJKLMNOP" }],
    ["a token in the path", { path: "/isth_ABCDEFGHIJKLMNOPQRSTUV/mcp" }],
    ["an escaped token in the path", { path: "/%zz/Bearer%20isth%5FABCDEFGHIJKLMNOPQRSTUV/mcp" }],
    ["a token far behind in a path", { path: `/${"p".repeat(185)}/isth_ABCDEFGHIJKLMNOPQRSTUV/mcp` }],
    ["a token as a name", { name: "isth_ABCDEFGHIJKLMNOPQRSTUV" }],
    ["a signed token as a name", { name: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.ABCDEFGHIJKLMNOP" }],
    ["a password in a resource", { name: "https://ada:ABCDEFGH@example.com/a?key=ABCDEFGHIJ#ABCDEFGHIJ" }],
    ["a header as a name", { name: "Bearer ABCDEFGHIJKLMNOP" }],
  ])("has no secret in it: %s", (_what, refused) => {
    const { note, events } = makeRig();
    note({ reason: "name", ...refused });
    expect(events).toHaveLength(1);
    expect(JSON.stringify(events)).not.toMatch(/ABCDEFGH|eyJ/);
  });

  test("is cut where it is long", () => {
    const { note, events } = makeRig();
    note({ reason: "name", name: "n".repeat(100_000), path: `/${"p".repeat(100_000)}` });
    expect(JSON.stringify(events).length).toBeLessThan(1_000);
  });

  test("again and again is counted, and does not hide what others do", () => {
    const { note, events, time } = makeRig();
    for (let index = 0; index < 10_000; index++) note({ reason: "session", address: "192.0.2.1" });
    expect(events).toHaveLength(50);
    note({ reason: "session", address: "192.0.2.2" });
    note({ reason: "host", address: "192.0.2.1" });
    expect(events).toHaveLength(52);
    time.advance(1_000);
    note({ reason: "session", address: "192.0.2.1" });
    expect(events.at(-1)?.details).toEqual({ reason: "session", address: "192.0.2.1", path: "", skipped: 9_950 });
  });
});

describe("the budget of notes", () => {
  test("is bounded however many addresses somebody has, and every note that is left out is counted once", () => {
    const time = new ManualTime();
    const budget = new NoteBudget(time);
    let [noted, told] = [0, 0];
    const take = (key: string) => {
      const skipped = budget.take(key);
      if (skipped !== undefined) noted++;
      told += skipped ?? 0;
    };
    for (let index = 0; index < 5_000; index++) take(`address ${index}`);
    expect(noted).toBe(200);
    time.advance(60_000);
    // Those that were forgotten are told by the next one; the others when they come again.
    for (let index = 4_999; index >= 4_000; index--) {
      time.advance(50);
      take(`address ${index}`);
    }
    expect(noted).toBe(1_200);
    expect(told).toBe(4_800);
  });
});
