import { describe, expect, test } from "vitest";
import type { AuditEvent } from "../../contract/index.ts";
import { plainEvent, plainTarget } from "./plain-event.ts";

const SECRET = "hunter2";

function event(name: string, details: AuditEvent["details"] = {}): AuditEvent {
  const actor = { type: "agent", id: "ann" } as const;
  return { type: "TOOL_BLOCKED", tenant: "default", actor, target: { server: "web", name }, result: "DENIED", details };
}

describe("plainEvent", () => {
  test.each([
    ["https://h.test/x?token=hunter2", "https://h.test/x"],
    ["https://h.test/x#hunter2", "https://h.test/x"],
    ["https://ann:hunter2@h.test/x", "https://h.test/x"],
    ["https://ann:hun@ter2@h.test/x", "https://h.test/x"],
    ["https://hunter2@h.test", "https://h.test"],
    ["notes://all?key=hunter2", "notes://all"],
    ["notes:all?key=hunter2", "notes:all"],
    ["web.https://ann:hunter2@h.test/x?sig=hunter2", "web.https://h.test/x"],
    ["my_web-2.notes://all?key=hunter2", "my_web-2.notes://all"],
    ["jdbc:postgresql://ann:hunter2@h.test/db", "jdbc:postgresql://h.test/db"],
    ["url:https://ann:hunter2@h.test/x", "url:https://h.test/x"],
    ["view-source:https://ann:hunter2@h.test/x?y", "view-source:https://h.test/x"],
    ["https:/ann:hunter2@h.test/x", "https:/h.test/x"],
    ["https:ann:hunter2@h.test/x", "https:h.test/x"],
    ["https:\\\\ann:hunter2@h.test/x", "https:\\\\h.test/x"],
    ["postgres:ann:hunter2@h.test", "postgres:h.test"],
    ["https://ann:a/hunter2@h.test/x", "https://h.test/x"],
    ["https://h.test:80/@ann/x", "https://h.test:80/@ann/x"],
    ["https://h.test/x%3Ftoken=hunter2", "https://h.test/x"],
    ["https://h.test/x%253ftoken=hunter2", "https://h.test/x"],
    ["https://h.test/x%23hunter2", "https://h.test/x"],
    ["https://h.test/x\uff1ftoken=hunter2", "https://h.test/x"],
  ])("has of %s where it leads, whatever event it stands in", (uri, plain) => {
    const details = { reason: "rule", tool: uri, calledAs: uri };
    for (const kind of ["resource", "template", "operation", undefined]) {
      const told = plainEvent(event(uri, { ...details, ...(kind && { kind }) }));
      expect(told).toEqual(event(plain, { reason: "rule", tool: plain, calledAs: plain, ...(kind && { kind }) }));
      expect(plainEvent(told)).toBe(told);
    }
    expect(JSON.stringify(plainEvent(event(uri, details)))).not.toContain(SECRET);
  });

  test("leaves names of tools and prompts as they are, and does not copy what has nothing to hide", () => {
    for (const one of [event("get?x", { kind: "tool" }), event("a:b#c", { kind: "prompt" }), event("what?"), event("")])
      expect(plainEvent(one)).toBe(one);
  });

  test("leaves the pattern of a grant as it stands in the policy", () => {
    const granted = { ...event("https://h.test/x?id=*"), type: "ACCESS_GRANTED" } as const;
    expect(plainEvent(granted)).toBe(granted);
  });
});

test.each([
  [" https://ann:hunter2@h.test/x", " https://h.test/x"],
  ["\thttps://ann:hunter2@h.test/x", "\thttps://h.test/x"],
  ["//ann:hunter2@h.test/x", "//h.test/x"],
])("plainTarget has of the resource %j where it leads", (name, plain) => {
  expect(plainTarget({ kind: "resource", name })).toBe(plain);
});

test("plainTarget names a resource without its query", () => {
  expect(plainTarget({ kind: "resource", name: "x?key=hunter2" })).toBe("x");
  expect(plainTarget({ kind: "tool", name: "x?key" })).toBe("x?key");
});
