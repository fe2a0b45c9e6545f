import { afterEach, describe, expect, test, vi } from "vitest";
import { jsonText, payload, stringOf, textOf } from "../../../contract/index.ts";
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

afterEach(() => void vi.restoreAllMocks());

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

  test("changes any number of choices at once: the question is not read again for each of them", () => {
    const names = Array.from({ length: 500 }, (_none, index) => `p${index}`);
    const params = form(Object.fromEntries(names.map((name) => [name, TITLED])));
    const splice = vi.spyOn(Object.getPrototypeOf(params), "splice");
    const at = vi.spyOn(Object.getPrototypeOf(params), "at");
    const older = olderQuestion(params, "2025-06-18");
    expect(splice).toHaveBeenCalledTimes(1);
    expect(at).toHaveBeenCalledTimes(1);
    const properties = older?.at(["requestedSchema", "properties"]) ?? "{}";
    expect(Object.keys(JSON.parse(properties))).toEqual(names);
    expect(older?.text.match(/"enumNames"/g)).toHaveLength(500);
    expect(older?.text).not.toContain("oneOf");
  });

  test.each([
    ["beyond ASCII", '"größe"'],
    ["with an escape", '"gr\\u00f6\\u00dfe"'],
  ])("changes a choice whose name is written %s where it stands", (_how, key) => {
    const text = `{"requestedSchema":{"properties":{"a":{},${key}:${JSON.stringify(TITLED)},"b":{}}}}`;
    const older = olderQuestion(payload(textOf(text)), "2025-06-18");
    const listed = '{"type":"string","title":"Colour","enum":["#f00","#0f0"],"enumNames":["Red","Green"]}';
    expect(stringOf(older?.text ?? "")).toBe(`{"requestedSchema":{"properties":{"a":{},${key}:${listed},"b":{}}}}`);
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
