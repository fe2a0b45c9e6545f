import { describe, expect, test } from "vitest";
import { jsonText, payload } from "../../../contract/index.ts";
import { olderQuestion } from "./older-questions.ts";

const form = (properties: object) =>
  payload(jsonText({ mode: "form", message: "m", requestedSchema: { type: "object", properties } }));
const TITLED = {
  type: "string",
  title: "Colour",
  oneOf: [
    { const: "#f00", title: "Red" },
    { const: "#0f0", title: "Green" },
  ],
};

describe("olderQuestion", () => {
  test("writes titled choices as 2025-06-18 has them, and leaves the rest byte for byte", () => {
    const params = payload(form({ colour: TITLED }).text.replace('"message":"m"', '"message":"\\u006d", "n":1.50'));
    const older = olderQuestion(params, "2025-06-18");
    expect(older?.text.startsWith('{"mode":"form","message":"\\u006d", "n":1.50,')).toBe(true);
    expect(older?.value()).toMatchObject({
      requestedSchema: {
        type: "object",
        properties: {
          colour: { type: "string", title: "Colour", enum: ["#f00", "#0f0"], enumNames: ["Red", "Green"] },
        },
      },
    });
    expect(older?.text).not.toContain("oneOf");
  });

  test("gives a choice without a title its own name", () => {
    const older = olderQuestion(form({ a: { type: "string", oneOf: [{ const: "x" }] } }), "2025-06-18");
    expect(older?.at(["requestedSchema", "properties", "a"])).toBe('{"type":"string","enum":["x"],"enumNames":["x"]}');
  });

  test.each([
    ["several choices at once", form({ a: { type: "array", items: { enum: ["x"] } } })],
    ["an address to open", payload('{"mode":"url","url":"https://x","message":"m"}')],
    ["what two readers could read differently", payload('{"message":"a","message":"b"}')],
  ])("has no form for %s before 2025-11-25", (_what, params) => {
    expect(olderQuestion(params, "2025-06-18")).toBeUndefined();
  });

  test("has none for anything before 2025-06-18, and leaves everything as it is from 2025-11-25 on", () => {
    const plain = form({ a: { type: "string" } });
    expect(olderQuestion(plain, "2025-03-26")).toBeUndefined();
    expect(olderQuestion(plain, "2024-11-05")).toBeUndefined();
    expect(olderQuestion(plain, "2025-06-18")?.text).toBe(plain.text);
    const titled = form({ a: TITLED, b: { type: "array" } });
    expect(olderQuestion(titled, "2025-11-25")).toBe(titled);
  });
});
