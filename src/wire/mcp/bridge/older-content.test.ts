import { describe, expect, test } from "vitest";
import { jsonText, payload, stringOf } from "../../../contract/index.ts";
import { olderContent } from "./older-content.ts";

const LINK = '{"type":"resource_link","uri":"file:///ü","name":"n","title":"Größe","description":"all of it"}';
const AUDIO = '{"type":"audio","data":"AAAA","mimeType":"audio/wav","annotations":{"priority":0.50}}';
const LINK_AS_TEXT = { type: "text", text: "Größe: file:///ü\nall of it" };

const utf8 = (json: string) => payload(Buffer.from(json, "utf8").toString("latin1"));

describe("olderContent", () => {
  test("says links and audio as text, and leaves the blocks beside them byte for byte", () => {
    const beside = '{"n":1.50, "type":"text","text":"a\\u0062,]"}';
    const result = utf8(`{"a":1e2,"content": [ ${beside} , ${LINK},${AUDIO} ],"isError":false}`);
    const older = olderContent("tools/call", result, "2024-11-05");
    const text = stringOf(older.text);
    expect(text).toContain(`{"a":1e2,"content": [${beside},{`);
    expect(text).toContain('"annotations":{"priority":0.50}');
    expect(older.value()).toMatchObject({
      content: [{ text: "ab,]" }, LINK_AS_TEXT, { type: "text", text: expect.stringContaining("audio/wav") }],
      isError: false,
    });
    expect(text).not.toContain("AAAA");
  });

  test("leaves elements beside each other that stay in one piece, with the blanks between them", () => {
    const many = '1 , {} ,\t"x", {"type" : "text"} ,{"type":"resource\\u005flinks"}';
    const older = olderContent("tools/call", utf8(`{"content":[ ${many} , ${LINK} , ${many} ]}`), "2025-03-26");
    const link = '{"type":"text","text":"Größe: file:///ü\\nall of it"}';
    expect(stringOf(older.text)).toBe(`{"content":[${many},${link},${many}]}`);
  });

  test("knows a type that is written with escapes beside one that is not", () => {
    const escaped = LINK.replace("resource_link", "resource\\u005flink");
    const older = olderContent("tools/call", utf8(`{"content":[${escaped},${LINK}]}`), "2025-03-26");
    expect(older.value()).toEqual({ content: [LINK_AS_TEXT, LINK_AS_TEXT] });
  });

  test.each([
    ["2024-11-05", ["text", "text"]],
    ["2025-03-26", ["text", "audio"]],
    ["2025-06-18", ["resource_link", "audio"]],
  ])("gives a client of %s the types %j", (version, types) => {
    const older = olderContent("tools/call", utf8(`{"content":[${LINK},${AUDIO}]}`), version);
    const { content } = older.value() as { content: { type: string }[] };
    expect(content.map(({ type }) => type)).toEqual(types);
  });

  test("does the same in the messages of a prompt", () => {
    const plain = '{"role":"user","content":{"type":"text","text":"resource_link"}}';
    const result = utf8(`{"messages":[${plain},{"role":"user","content":${LINK}}]}`);
    const older = olderContent("prompts/get", result, "2025-03-26");
    expect(older.value()).toEqual({ messages: [JSON.parse(plain), { role: "user", content: LINK_AS_TEXT }] });
  });

  test.each([
    ["tools/call", '{"content":[{"type":"text","text":"x"}],"structuredContent":{"type":"audio"}}'],
    ["tools/call", '{"content":"audio"}'],
    ["tools/call", '{"content":[],"x":"audio"}'],
    ["tools/call", '{"content":[{"type":"audio","type":"text"}]}'],
    ["resources/read", '{"contents":[{"type":"audio"}]}'],
    ["prompts/get", '{"messages":[{"role":"audio"},"audio"]}'],
  ])("gives %s %s back as it is", (method, json) => {
    const result = payload(json);
    expect(olderContent(method, result, "2024-11-05")).toBe(result);
  });

  test("names a link that has nothing but its address", () => {
    const link = { type: "resource_link", uri: "a:b", name: "" };
    const older = olderContent("tools/call", payload(jsonText({ content: [link] })), "2024-11-05");
    expect(older.value()).toEqual({ content: [{ type: "text", text: "a:b" }] });
  });
});
