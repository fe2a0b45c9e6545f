import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Call,
  type CallEvent,
  jsonText,
  type MappedUris,
  type Next,
  type Out,
  payload,
} from "../contract/index.ts";
import { mapLinks } from "./uri-links.ts";
import { uriStage } from "./uri-stage.ts";

const uris: MappedUris = { prefix: "b+", has: (uri) => uri === "x://1" || uri === "ui://app" || uri === "x://ü" };

const call: Call = {
  id: "c1",
  target: { provider: "b", kind: "tool", name: "read" },
  verb: "call",
  method: "tools/call",
  input: payload("{}"),
  principal: { id: "local" },
  session: undefined,
  origin: { front: "mcp", protocol: "2025-11-25", requestId: "1" },
  deadline: 0,
  life: "bound",
  signal: new AbortController().signal,
};

async function through(event: CallEvent): Promise<CallEvent> {
  const heard: CallEvent[] = [];
  const out: Out = { write: (one) => heard.push(one) > 0, ready: async () => undefined };
  const provider: Next = async (_call, inner) => {
    inner.write(event);
    await inner.ready();
  };
  await uriStage(uris)(call, out, provider);
  expect(heard.length).toBe(1);
  return heard[0] as CallEvent;
}

async function resultOf(text: string): Promise<string> {
  const event = await through({ type: "end", outcome: "result", payload: payload(text) });
  return event.type === "end" ? event.payload.text : "";
}

describe("uriStage", () => {
  test.each([
    ["a link", '{"content":[{"type":"resource_link","uri":"x://1","name":"n"}]}', 1],
    ["a link that says so last", '{"content":[{"uri":"x://1","_meta":{"ui":{}},"type":"resource_link"}]}', 1],
    ["an embedded resource", '{"content":[{"type":"resource","resource":{"uri":"x://1","text":"x://1"}}]}', 1],
    ["what was read", '{"contents":[{"uri":"x://1","text":""},{"uri":"x://2"},{"uri":"x://1","blob":""}]}', 2],
    [
      "a prompt's message",
      '{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"x://1"}}}]}',
      1,
    ],
    ["a prompt's blocks", '{"messages":[{"content":[{"type":"resource_link","uri":"x://1"},{"uri":"x://1"}]}]}', 1],
    ["a link to an app", '{"content":[],"_meta":{"ui":{"resourceUri":"ui://app"},"ui/resourceUri":"ui://app"}}', 2],
    ["a link of a block", '{"content":[{"type":"text","text":"","_meta":{"ui":{"resourceUri":"ui://app"}}}]}', 1],
    ["what is written with escapes", '{"content":[{"type":"resource_link","\\u0075ri":"\\u0078://1"}]}', 1],
    ["odd white space", '{ "contents" : [ { "uri"\n:\t"x://1" } ] }', 1],
    ["a key that comes twice", '{"contents":[{"uri":"x://1","uri":"x://1"}]}', 2],
  ])("maps the URI in %s and nothing else", async (_what, text, count) => {
    const mapped = await resultOf(text);
    expect(mapped.replaceAll("b+", "")).toBe(text);
    expect(mapped.length).toBe(text.length + count * 2);
  });

  test.each([
    ["another URI", '{"content":[{"type":"resource_link","uri":"x://2"}]}'],
    ["structured content", '{"content":[],"structuredContent":{"uri":"x://1","content":[{"uri":"x://1"}]}}'],
    ["a block that is no link", '{"content":[{"type":"text","text":"x://1","uri":"x://1"}]}'],
    ["things of the wrong kind", '{"content":{"type":1},"contents":7,"messages":[[{"uri":"x://1"}]],"_meta":["uri"]}'],
    ["no object at all", '["uri"]'],
  ])("leaves %s alone", async (_what, text) => {
    expect(await resultOf(text)).toBe(text);
  });

  test("compares URIs as text, not as bytes", async () => {
    const text = jsonText({ contents: [{ uri: "x://ü" }] });
    expect(await resultOf(text)).toBe(text.replace("x://", "b+x://"));
  });

  test("maps an update that comes with a call, and keeps the message around a result", async () => {
    const notice = { type: "notice", method: "notifications/resources/updated" } as const;
    expect(await through({ ...notice, payload: payload('{"uri":"x://1"}') })).toMatchObject({
      payload: { text: '{"uri":"b+x://1"}' },
    });
    const other: CallEvent = { type: "notice", method: "notifications/other", payload: payload('{"uri":"x://1"}') };
    expect(await through(other)).toBe(other);
    const frame = { text: '{"id":1,"result":{}}', start: 17, end: 19, id: { start: 6, end: 7 } };
    const body = payload('{"contents":[{"uri":"x://1"}]}', frame);
    expect(await through({ type: "end", outcome: "result", payload: body })).toMatchObject({ payload: { frame } });
  });

  test("hands on, as the same object, what it has nothing to do with", async () => {
    const fault: CallEvent = { type: "end", outcome: "fault", payload: payload('{"uri":"x://1"}') };
    const progress: CallEvent = { type: "progress", payload: payload("{}") };
    expect(await through(fault)).toBe(fault);
    expect(await through(progress)).toBe(progress);
    const plain = payload('{"content":[{"type":"text","text":"hello"}]}');
    expect(await through({ type: "end", outcome: "result", payload: plain })).toMatchObject({ payload: plain });
  });

  test("never breaks a result, whatever it holds", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (json) => {
        const text = jsonText({ content: [{ type: "resource_link", uri: "x://1" }, JSON.parse(json)], x: json });
        const mapped = await resultOf(text);
        expect(mapped.startsWith('{"content":[{"type":"resource_link","uri":"b+x://1"}')).toBe(true);
        expect(mapped.replace("b+", "")).toBe(text);
      }),
    );
  });
});

describe("mapLinks", () => {
  test("maps the links of a list entry, not its name", () => {
    const tool = '{"name":"x://1","uri":"x://1","_meta":{"ui":{"resourceUri":"ui://app","visibility":["app"]}}}';
    expect(mapLinks(payload(tool), uris).text).toBe(tool.replace("ui://", "b+ui://"));
  });
});
