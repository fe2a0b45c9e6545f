import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { payload, textOf } from "../../contract/index.ts";
import { answerText, notificationText, requestText } from "./encode.ts";
import { MessageFault, skimBatch, skimMessage } from "./message.ts";

function faultOf(text: string): MessageFault {
  try {
    skimMessage(text);
  } catch (error) {
    if (error instanceof MessageFault) return error;
    throw error;
  }
  throw new Error(`${text} was taken`);
}

describe("skimMessage", () => {
  test("tells the kinds apart and keeps the id as it was spelled", () => {
    expect(skimMessage('{"jsonrpc":"2.0","id":0,"method":"ping"}')).toMatchObject({
      kind: "request",
      id: "0",
      method: "ping",
    });
    expect(skimMessage('{"jsonrpc":"2.0","method":"x","params":{}}')).toMatchObject({ kind: "notification", id: "" });
    expect(skimMessage('{"jsonrpc":"2.0","id":"a\\u0062","result":{"k":1}}')).toMatchObject({
      kind: "response",
      id: '"a\\u0062"',
      outcome: "result",
    });
    expect(skimMessage('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}')).toMatchObject({
      kind: "response",
      outcome: "fault",
    });
  });

  test.each([
    ["not json", -32700, "null"],
    ['{"jsonrpc":"2.0","id":1,"method":"x"', -32700, "null"],
    ['{"jsonrpc":"2.0","id":1,"method":"x"} x', -32700, "null"],
    ["[]", -32600, "null"],
    ['{"jsonrpc":"1.0","id":1,"method":"x"}', -32600, "1"],
    ['{"id":1,"method":"x"}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}', -32600, "1"],
    ['{"jsonrpc":"2.0","method":"x","id":1,"id":2}', -32600, "null"],
    ['{"jsonrpc":"2.0","id":1,"me\\u0074hod":"x"}', -32600, "1"],
    ['{"jsonrpc":"2.0","\\u0069d":1,"method":"x"}', -32600, "null"],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","name":"b"}}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"n\\u0061me":"a"}}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":null,"method":"x"}', -32600, "null"],
    ['{"jsonrpc":"2.0","id":{},"method":"x"}', -32600, "null"],
    ['{"jsonrpc":"2.0","id":1,"method":"x","Method":"y"}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"NAME":"a","name":"b"}}', -32600, "1"],
    [textOf('{"jsonrpc":"2.0","id":1,"method":"x","params":{},"param\u017f":{}}'), -32600, "1"],
    [textOf('{"jsonrpc":"2.0","id":1,"method":"x","params":{"k":1,"\u212a":2}}'), -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"method":"x","result":{}}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1}', -32600, "1"],
    ['{"jsonrpc":"2.0","result":{}}', -32600, "null"],
  ])("refuses %s with %i and id %s", (text, code, id) => {
    expect(faultOf(text)).toMatchObject({ code, id });
  });
});

describe("a _meta that comes again and again", () => {
  const META = JSON.stringify({ "example/client": { name: "a client", version: "1.0.0" }, "example/capabilities": {} });
  const message = (rest: string): string => `{"jsonrpc":"2.0","id":1,"method":"x","params":{${rest}}}`;

  function makeUsual(): void {
    for (let turn = 0; turn < 40; turn++) skimMessage(message(`"_meta":${META}`));
  }

  test.each([
    ["whole", `"_meta":${META},"name":"a"`],
    ["as another member", `"arguments":${META},"_meta":${META}`],
    ["with another ending", `"_meta":${META.slice(0, -1)},"more":"\\"}"},"name":"a"`],
    ["inside of another", `"_meta":{"inner":${META}},"name":"\\u0061"`],
  ])("is read as if it came for the first time: %s", (_, rest) => {
    const fresh = JSON.parse(message(rest));
    makeUsual();
    const { members, body } = skimMessage(message(rest));
    expect(JSON.parse(body.text)).toEqual(fresh.params);
    for (const key of members?.keys ?? []) expect(JSON.parse(members?.textOf(key) ?? "")).toEqual(fresh.params[key]);
  });

  test.each([
    ["broken off", `"_meta":${META.slice(0, -1)}`],
    ["with text behind it", `"_meta":${META}x`],
    ["closed twice", `"_meta":${META}}`],
    ["repeated", `"_meta":${META},"_meta":${META}`],
  ])("is refused as if it came for the first time: %s", (_, rest) => {
    makeUsual();
    expect(faultOf(message(rest))).toBeInstanceOf(MessageFault);
  });
});

describe("messages that go on", () => {
  const spaced = fc.constantFrom("", " ", "\n  ");

  test("differ from those that came only in the id", () => {
    fc.assert(
      fc.property(fc.jsonValue(), spaced, fc.boolean(), (extra, space, isIdLast) => {
        const id = (n: string) => `"id":${space}${n}`;
        const rest = `"method":"m",${space}"params":{"x":${JSON.stringify(extra)},"n":1.0}`;
        const message = (n: string) =>
          Buffer.from(`{"jsonrpc":"2.0",${isIdLast ? `${rest},${id(n)}` : `${id(n)},${rest}`}${space}}`).toString(
            "latin1",
          );
        expect(requestText("99", "m", skimMessage(message("7")).body)).toBe(message("99"));
      }),
    );
  });

  test("keep what surrounds their payload when it is spliced", () => {
    const message = skimMessage('{"x":0,"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a"},"y":2}');
    expect(requestText("5", "m", message.body.splice(["name"], '"b"'))).toBe(
      '{"x":0,"jsonrpc":"2.0","id":5,"method":"m","params":{"name":"b"},"y":2}',
    );
  });

  test("without params stay without them, or get them where they belong", () => {
    const message = skimMessage('{"jsonrpc":"2.0","id":1,"method":"m" }');
    expect(requestText("2", "m", message.body)).toBe('{"jsonrpc":"2.0","id":2,"method":"m" }');
  });

  test("are built whole for payloads of our own", () => {
    expect(requestText("1", "a/b", payload("{}"))).toBe('{"jsonrpc":"2.0","id":1,"method":"a/b","params":{}}');
    expect(notificationText("a/b", payload(""))).toBe('{"jsonrpc":"2.0","method":"a/b"}');
    expect(answerText('"x"', "fault", payload('{"code":1}'))).toBe('{"jsonrpc":"2.0","id":"x","error":{"code":1}}');
  });
});

describe("skimBatch", () => {
  test("cuts an array into its messages as they stand", () => {
    expect(skimBatch(' [ {"a":[1,2]} , {"b":"]"} ] ')).toEqual(['{"a":[1,2]}', '{"b":"]"}']);
  });

  test.each(["[]", "[{}", "[{} {}]", "[{}]x"])("refuses %s", (text) => {
    expect(() => skimBatch(text)).toThrow(MessageFault);
  });
});
