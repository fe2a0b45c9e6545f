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
    ['{"jsonrpc":"2.0","id":1,"method":"x","Result":{}}', -32600, "1"],
    ['{"jsonrpc":"2.0","method":"x","ID":1}', -32600, "null"],
    ['{"jsonrpc":"2.0","id":1,"result":{},"Method":"tools/call","Params":{"name":"a"}}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""},"METHOD":"tools/call"}', -32600, "1"],
    [textOf('{"jsonrpc":"2.0","id":1,"result":{},"param\u017f":{}}'), -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"method":"x","result":{}}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', -32600, "1"],
    ['{"jsonrpc":"2.0","id":1}', -32600, "1"],
    ['{"jsonrpc":"2.0","result":{}}', -32600, "null"],
  ])("refuses %s with %i and id %s", (text, code, id) => {
    expect(faultOf(text)).toMatchObject({ code, id });
  });
});

describe("names of the protocol in other spellings", () => {
  const message = (method: string, params: string) =>
    textOf(`{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`);

  test.each([
    ["tools/call", '{"name":"a","Arguments":{}}'],
    ["tools/call", '{"name":"a","ARGUMENTS":{}}'],
    ["tools/call", '{"name":"a","argument\u017f":{}}'],
    ["tools/call", '{"name":"a","RequestState":"s"}'],
    ["tools/call", '{"name":"a","request_state":"s"}'],
    ["tools/call", '{"name":"a","input-responses":{}}'],
    ["tools/call", '{"name":"a","Task":{}}'],
    ["tools/call", '{"name":"a","task":{"TTL":1}}'],
    ["tools/call", '{"name":"a","meta":{"progressToken":1}}'],
    ["tools/call", '{"name":"a","_Meta":{"progressToken":1}}'],
    ["tools/call", '{"name":"a","_meta":{"ProgressToken":1}}'],
    ["tools/call", '{"name":"a","_meta":{"progress_token":1}}'],
    ["tools/call", '{"name":"a","_meta":{"\\u0050rogressToken":1}}'],
    ["tools/call", '{"name":"a","_meta":{"progressToken":1,"progresstoken":2}}'],
    ["tools/call", '{"name":"a","_meta":{"Dev.Isthmus/requester":"x"}}'],
    ["tools/call", '{"name":"a","_meta":{"io.modelcontextprotocol/ProtocolVersion":"x"}}'],
    ["acme/own", '{"_Meta":{"progressToken":1}}'],
    ["acme/own", '{"_meta":{"ProgressToken":1}}'],
    ["prompts/get", '{"name":"a","Arguments":{}}'],
    ["resources/read", '{"uri":"a:b","Uri":"a:c"}'],
    ["resources/read", '{"ur\u0130":"a:c"}'],
    ["notifications/cancelled", '{"requestId":1,"request_id":2}'],
    ["completion/complete", '{"ref":{"type":"ref/prompt","name":"a","Name":"b"},"argument":{"name":"x","value":""}}'],
    ["completion/complete", '{"ref":{"Type":"ref/prompt","name":"a"},"argument":{"name":"x","value":""}}'],
    ["completion/complete", '{"ref":{"type":"ref/resource","uri":"a:b","URI":"a:c"}}'],
    ["completion/complete", '{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"x","Value":"y"}}'],
    ["completion/complete", '{"ref":{"type":"ref/prompt","name":"a"},"context":{"Arguments":{}}}'],
  ])("refuse a message of %s with %s", (method, params) => {
    expect(faultOf(message(method, params))).toMatchObject({ code: -32600, id: "1" });
  });

  test.each([
    ["tools/call", '{"name":"a","arguments":{"Name":1,"name":2,"Arguments":3,"_Meta":4}}'],
    ["tools/call", '{"name":"a","_meta":{"progress\\u0054oken":1,"Name":1,"acme/Thing":2,"traceParent":3}}'],
    ["tools/call", '{"name":"a","somethingElse":1,"_own":{}}'],
    ["acme/own", '{"Name":1,"request_id":2,"meta":3,"task":{"TTL":1},"ref":{"Type":1}}'],
    ["completion/complete", '{"ref":{"type":"ref/prompt","name":"a"},"context":{"arguments":{"Type":"x"}}}'],
  ])("are no concern where names are somebody else's: %s with %s", (method, params) => {
    expect(skimMessage(message(method, params)).body.text).toBe(textOf(params));
  });

  test("are refused also in a _meta that is as long as a usual one, however often it comes", () => {
    const meta = JSON.stringify({
      "example/client": { name: "a client", version: "1.0.0" },
      ProgressToken: 1,
      more: "x",
    });
    const text = message("tools/call", `{"name":"a","_meta":${meta}}`);
    for (let turn = 0; turn < 40; turn++) expect(faultOf(text).code).toBe(-32600);
  });

  test("in a _meta of more keys than anybody reads are not looked for", () => {
    const many = Array.from({ length: 20_001 }, (_, at) => `"k${at}":0`).join(",");
    expect(faultOf(message("tools/call", `{"name":"a","_meta":{${many}}}`)).code).toBe(-32600);
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
    const message = skimMessage('{ "jsonrpc":"2.0", "id":1,"method":"m","params":{"name":"a"} }');
    expect(requestText("5", "m", message.body.splice(["name"], '"b"'))).toBe(
      '{ "jsonrpc":"2.0", "id":5,"method":"m","params":{"name":"b"} }',
    );
  });

  test.each([
    ['{"x":0,"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"a"},"y":2}', '{"name":"a"}'],
    ['{"rider":{"id":2},"id":1,"jsonrpc":"2.0","method":"m"}', ""],
    ['{"jsonrpc":"2.0","method":"m","params":{},"z":[],"__proto__":{},"constructor":1}', "{}"],
  ])("have no other members than JSON-RPC gives them: %s", (text, params) => {
    const { body, text: left, method } = skimMessage(text);
    const sent = text.includes('"id":1') ? requestText("5", "m", body) : notificationText("m", body);
    const id = text.includes('"id":1') ? { id: 5 } : {};
    expect(JSON.parse(sent)).toEqual({
      jsonrpc: "2.0",
      ...id,
      method: "m",
      ...(params && { params: JSON.parse(params) }),
    });
    expect([method, left]).toEqual(["m", expect.not.stringMatching(/rider|"[xyz]"|proto/)]);
  });

  test.each(["result", "error"])("have none beside a %s", (outcome) => {
    const { body } = skimMessage(`{"jsonrpc":"2.0","rider":1,"id":1,"${outcome}":{"code":1},"more":{}}`);
    const sent = answerText("5", outcome === "result" ? "result" : "fault", body);
    expect(JSON.parse(sent)).toEqual({ jsonrpc: "2.0", id: 5, [outcome]: { code: 1 } });
  });

  test.each(["result", "error"])("have no params beside a %s", (outcome) => {
    const own = `"${outcome}":{"code":1}`;
    for (const members of [`"params":{"rider":1},${own}`, `${own},"params":{"rider":1}`, `"params":[],${own},"x":1`]) {
      const { body } = skimMessage(`{"jsonrpc":"2.0","id":1,${members}}`);
      const sent = answerText("5", outcome === "result" ? "result" : "fault", body);
      expect(JSON.parse(sent)).toEqual({ jsonrpc: "2.0", id: 5, [outcome]: { code: 1 } });
    }
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

  test("refuses more than 256 messages, and reads nothing behind them", () => {
    expect(skimBatch(`[${Array(256).fill("{}").join()}]`)).toHaveLength(256);
    expect(() => skimBatch(`[${"{},".repeat(256)} what is this?`)).toThrow(expect.objectContaining({ code: -32600 }));
  });
});
