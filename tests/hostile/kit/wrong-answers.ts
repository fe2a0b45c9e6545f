/** Answers of a server to one call, damaged. "@ID@" stands for the id of the request. */
import fc from "fast-check";
import { mutate, mutations } from "./mutation.ts";

const GOOD = '{"jsonrpc":"2.0","id":@ID@,"result":{"content":[{"type":"text","text":"g\\u00f6od"}],"_meta":{"a":1}}}';

/** Messages that a server may write, most of them at the wrong time. */
const MESSAGES = [
  GOOD,
  '{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32000,"message":"no"}}',
  '{"jsonrpc":"2.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0","id":"@ID@","result":{"tools":[]}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":@ID@,"progress":1}}',
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"x":[1]}}}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":@ID@}}',
  '{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t","status":"working"}}',
  '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b"}}',
  '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object"}}}',
  '{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"_meta":{"progressToken":1}}}',
  '{"jsonrpc":"2.0","id":8,"method":"ping"}',
  '{"jsonrpc":"2.0","id":@ID@,"result":{"task":{"taskId":"t","status":"working","ttl":1e300}}}',
];

const message = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...MESSAGES) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...MESSAGES), mutations).map(([text, list]) => mutate(text, list)) },
);
const several = fc.array(message, { minLength: 1, maxLength: 5 });

const head = (type: string, more = "") =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nConnection: close\r\n${more}\r\n`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const events = (list: readonly string[]) => list.map((one) => `event: message\ndata: ${one}\n\n`).join("");

/** Lines of a server on a pipe. */
export const wrongLines: fc.Arbitrary<string> = several.map((list) => `${list.join("\n")}\n`);

/** Whole HTTP responses; the id is filled in by their author, so lengths are as wrong as the damage makes them. */
export const wrongResponse: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      message.map((one) => head("application/json") + one),
      message.map((one) => head("application/json", `Content-Length: ${one.length}\r\n`) + one),
      several.map(
        (list) => `${head("application/json", "Transfer-Encoding: chunked\r\n")}${list.map(chunk).join("")}0\r\n\r\n`,
      ),
      several.map((list) => head("text/event-stream") + events(list)),
      several.map(
        (list) => `${head("text/event-stream", "Transfer-Encoding: chunked\r\n")}${chunk(events(list))}0\r\n\r\n`,
      ),
      fc
        .uint8Array({ maxLength: 200 })
        .map((bytes) => head("application/json") + Buffer.from(bytes).toString("latin1")),
    ),
    fc.option(mutations, { freq: 2, nil: [] }),
  )
  .map(([text, list]) => mutate(text, list));

/** Answers to `initialize` that are nearly right. */
export const wrongHandshake: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom(
      '{"jsonrpc":"2.0","id":@ID@,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}',
      '{"jsonrpc":"2.0","id":@ID@,"result":{"protocolVersion":"2999-01-01","capabilities":{}}}',
      '{"jsonrpc":"2.0","id":@ID@,"result":{"protocolVersion":1,"capabilities":[],"instructions":{}}}',
      '{"jsonrpc":"2.0","id":@ID@,"error":{"code":-1,"message":"no"}}',
    ),
    mutations,
  )
  .map(([text, list]) => head("application/json", "Mcp-Session-Id: s1\r\n") + mutate(text, list));
