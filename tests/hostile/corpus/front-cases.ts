/** What clients may send that is wrong, and the exact answer to it. `error`: the JSON-RPC code in the body. */

export type FrontCase = {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  /** Added to those of a proper request; undefined takes one away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
  readonly status: number;
  readonly error?: number;
  /** The id in the answer, as it is spelled. */
  readonly id?: string;
};

/** The gateway of the corpus runs with `maxBody = "64KB"`. */
export const MAX_BODY = 64_000;

const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const echo = (args: string, id = "1") =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"canary.echo","arguments":${args}}}`;
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));

export const FRONT_CASES: readonly FrontCase[] = [
  // Size and depth
  {
    name: "a body of exactly maxBody",
    body: echo(`{"text":"${"x".repeat(MAX_BODY - echo('{"text":""}').length)}"}`),
    status: 200,
  },
  { name: "a body one byte over maxBody", body: " ".repeat(MAX_BODY + 1), status: 413, error: -32600 },
  {
    name: "a body over maxBody without a declared length",
    headers: { "transfer-encoding": "chunked", "content-length": undefined },
    body: " ".repeat(MAX_BODY * 2),
    status: 413,
    error: -32600,
  },
  { name: "nesting of 128", body: echo(`{"text":${nested(125)}}`), status: 200 },
  { name: "nesting of 129", body: echo(`{"text":${nested(126)}}`), status: 400, error: -32600 },
  { name: "nesting of 30,000", body: nested(30_000), status: 400, error: -32600 },
  { name: "nesting that never ends", body: "[".repeat(60_000), status: 400, error: -32600 },
  // Bytes
  { name: "no body", body: "", status: 400, error: -32700 },
  { name: "white space only", body: " \n ", status: 400, error: -32700 },
  {
    name: "invalid UTF-8",
    body: bytes(echo('{"text":"').slice(0, -3), [0xff, 0xfe], '"}}}'),
    status: 400,
    error: -32700,
  },
  {
    name: "overlong UTF-8",
    body: bytes('{"jsonrpc":"2.0","id":1,"method":"', [0xc0, 0x80], '"}'),
    status: 400,
    error: -32700,
  },
  {
    name: "a surrogate in UTF-8",
    body: bytes('{"jsonrpc":"2.0","id":1,"method":"', [0xed, 0xa0, 0x80], '"}'),
    status: 400,
    error: -32700,
  },
  { name: "UTF-16", body: Buffer.from(echo("{}"), "utf16le"), status: 400, error: -32700 },
  { name: "a byte order mark", body: `\ufeff${echo("{}")}`, status: 400, error: -32700 },
  { name: "a NUL in a string", body: echo('{"text":"\0"}'), status: 400, error: -32700 },
  { name: "a bare line feed in a string", body: echo('{"text":"\n"}'), status: 400, error: -32700 },
  // JSON
  { name: "text", body: "hello", status: 400, error: -32700 },
  { name: "a cut message", body: echo("{}").slice(0, -1), status: 400, error: -32700 },
  { name: "two messages", body: echo("{}") + echo("{}"), status: 400, error: -32700 },
  { name: "a comment", body: `/* */${echo("{}")}`, status: 400, error: -32700 },
  { name: "single quotes", body: "{'jsonrpc':'2.0'}", status: 400, error: -32700 },
  { name: "NaN", body: echo('{"text":NaN}'), status: 400, error: -32700 },
  { name: "a leading zero", body: echo('{"text":01}'), status: 400, error: -32700 },
  { name: "a trailing comma", body: echo('{"text":1,}'), status: 400, error: -32700 },
  { name: "a bad escape", body: echo('{"text":"\\x41"}'), status: 400, error: -32700 },
  // JSON-RPC
  { name: "a string for a message", body: '"x"', status: 400, error: -32600 },
  { name: "null for a message", body: "null", status: 400, error: -32600 },
  { name: "a batch where there are none", body: `[${echo("{}")}]`, status: 400, error: -32600 },
  { name: "an empty batch", body: "[]", status: 400, error: -32600 },
  { name: "version 1.0", body: '{"jsonrpc":"1.0","id":1,"method":"ping"}', status: 400, error: -32600, id: "1" },
  { name: "no version", body: '{"id":"a","method":"ping"}', status: 400, error: -32600, id: '"a"' },
  { name: "a null id", body: '{"jsonrpc":"2.0","id":null,"method":"ping"}', status: 400, error: -32600 },
  { name: "an object id", body: '{"jsonrpc":"2.0","id":{},"method":"ping"}', status: 400, error: -32600 },
  { name: "a boolean id", body: '{"jsonrpc":"2.0","id":true,"method":"ping"}', status: 400, error: -32600 },
  {
    name: "an id that no number type holds",
    body: '{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}',
    status: 200,
    id: "123456789012345678901234567890",
  },
  { name: "a number for a method", body: '{"jsonrpc":"2.0","id":1,"method":7}', status: 400, error: -32600, id: "1" },
  {
    name: "an array for params",
    body: '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}',
    status: 400,
    error: -32600,
    id: "1",
  },
  {
    name: "a method and a result",
    body: '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}',
    status: 400,
    error: -32600,
    id: "1",
  },
  {
    name: "a result and an error",
    body: '{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
    status: 400,
    error: -32600,
    id: "1",
  },
  { name: "nothing but an id", body: '{"jsonrpc":"2.0","id":1}', status: 400, error: -32600, id: "1" },
  {
    name: "a repeated method",
    body: '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
    status: 400,
    error: -32600,
    id: "1",
  },
  { name: "two ids", body: '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', status: 400, error: -32600 },
  {
    name: "an escaped key",
    body: '{"jsonrpc":"2.0","id":1,"meth\\u006fd":"ping"}',
    status: 400,
    error: -32600,
    id: "1",
  },
  {
    name: "a repeated name",
    body: echo("{}").replace('"name"', '"name":"x","name"'),
    status: 400,
    error: -32600,
    id: "1",
  },
  {
    name: "a repeated key in _meta",
    body: echo("{}").replace('"name"', '"_meta":{"progressToken":1,"progressToken":2},"name"'),
    status: 400,
    error: -32600,
    id: "1",
  },
  {
    name: "an escaped key in _meta",
    body: echo("{}").replace('"name"', '"_meta":{"progress\\u0054oken":1},"name"'),
    status: 200,
    id: "1",
  },
  {
    name: "a repeated key in a completion's ref",
    body: '{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","type":"ref/resource","name":"x"},"argument":{"name":"a","value":""}}}',
    status: 400,
    error: -32600,
    id: "1",
  },
  {
    name: "a repeated capability",
    body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"roots":null},"clientInfo":{"name":"a","version":"1"}}}',
    headers: { "mcp-session-id": undefined },
    status: 400,
    error: -32600,
    id: "1",
  },
  // MCP
  {
    name: "an unknown tool",
    body: echo("{}").replace("canary.echo", "canary.nothing"),
    status: 200,
    error: -32601,
    id: "1",
  },
  {
    name: "a tool named as a prototype",
    body: echo("{}").replace("canary.echo", "__proto__"),
    status: 200,
    error: -32601,
    id: "1",
  },
  { name: "a number for a tool", body: echo("{}").replace('"canary.echo"', "5"), status: 200, error: -32602, id: "1" },
  {
    name: "a call without params",
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    status: 200,
    error: -32602,
    id: "1",
  },
  {
    name: "an unknown method",
    body: '{"jsonrpc":"2.0","id":1,"method":"no/such"}',
    status: 200,
    error: -32601,
    id: "1",
  },
  {
    name: "a method named as a constructor",
    body: '{"jsonrpc":"2.0","id":1,"method":"constructor"}',
    status: 200,
    error: -32601,
    id: "1",
  },
  { name: "an empty method", body: '{"jsonrpc":"2.0","id":1,"method":""}', status: 200, error: -32601, id: "1" },
  {
    name: "a cursor of nobody",
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"////"}}',
    status: 200,
    error: -32602,
    id: "1",
  },
  {
    name: "a task of nobody",
    body: '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"x"}}',
    status: 200,
    error: -32602,
    id: "1",
  },
  {
    name: "a log level of nobody",
    body: '{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}',
    status: 200,
    error: -32602,
    id: "1",
  },
  {
    name: "initialize without a version",
    body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
    status: 200,
    error: -32602,
    id: "1",
  },
  { name: "an answer to no question", body: '{"jsonrpc":"2.0","id":77,"result":{}}', status: 202 },
  {
    name: "a cancel of nothing",
    body: '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":1}}}',
    status: 202,
  },
  {
    name: "a notification of nobody",
    body: '{"jsonrpc":"2.0","method":"notifications/none","params":{"x":1}}',
    status: 202,
  },
  {
    name: "a request's word as a notification",
    body: '{"jsonrpc":"2.0","method":"logging/setLevel","params":{"level":7}}',
    status: 202,
  },
  {
    name: "a repeated key in a notification's _meta",
    body: '{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"},"a":1,"a":2}}}',
    status: 202,
  },
  // HTTP
  { name: "an unknown session", headers: { "mcp-session-id": "0000" }, body: echo("{}"), status: 404 },
  { name: "an endless session id", headers: { "mcp-session-id": "x".repeat(4000) }, body: echo("{}"), status: 404 },
  { name: "the session of another catalog", path: "/canary/mcp", body: echo("{}"), status: 404 },
  { name: "an unknown catalog", path: "/nobody/mcp", body: echo("{}"), status: 404 },
  { name: "an unknown path", path: "/mcp/x", body: echo("{}"), status: 404 },
  {
    name: "an unknown protocol version",
    headers: { "mcp-protocol-version": "1999-01-01" },
    body: echo("{}"),
    status: 400,
  },
  { name: "a wrong content type", headers: { "content-type": "text/plain" }, body: echo("{}"), status: 415 },
  {
    name: "a content type that only starts right",
    headers: { "content-type": "application/jsonx" },
    body: echo("{}"),
    status: 415,
  },
  { name: "no content type", headers: { "content-type": undefined }, body: echo("{}"), status: 415 },
  { name: "an Accept of something else", headers: { accept: "text/html" }, body: echo("{}"), status: 406 },
  { name: "another Host", headers: { host: "evil.example" }, body: echo("{}"), status: 403 },
  { name: "another Origin", headers: { origin: "https://evil.example" }, body: echo("{}"), status: 403 },
  {
    name: "an Origin that only ends right",
    headers: { origin: "https://evil.example/127.0.0.1" },
    body: echo("{}"),
    status: 403,
  },
  { name: "PUT", method: "PUT", body: echo("{}"), status: 405 },
  { name: "GET without a stream in Accept", method: "GET", headers: { accept: "application/json" }, status: 406 },
  {
    name: "GET with an unknown session",
    method: "GET",
    headers: { accept: "text/event-stream", "mcp-session-id": "0000" },
    status: 404,
  },
  {
    name: "GET for a run of nobody",
    method: "GET",
    headers: { accept: "text/event-stream", "last-event-id": "00000000-0000-4000-8000-000000000000.5" },
    status: 204,
  },
  { name: "DELETE of an unknown session", method: "DELETE", headers: { "mcp-session-id": "0000" }, status: 404 },
];
