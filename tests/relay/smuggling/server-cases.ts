/** What a server may answer to make the gateway, or a client behind it, read another answer than was given. */

/** `{id}` is the id of the call. What follows the first text are messages that come after it. */
export type ServerCase = {
  readonly name: string;
  readonly said: readonly string[];
  /**
   * failed: the call ends with PROVIDER_FAILED. A text: the client gets exactly this, under its own id. either: it fails
   * where what is ambiguous stands on its own stream, and gets the answer that follows where nothing ties the two.
   */
  readonly expect: "failed" | "either" | string;
  /** On a pipe nothing ties such a text to a call: only its deadline ends it. */
  readonly onlyHttp?: true;
};

const OK = '{"jsonrpc":"2.0","id":{id},"result":{"content":[],"ok":1.0}}';
const evil = (id: string) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"evil":true}}`;
const head = '"jsonrpc":"2.0","id":{id}';

function failed(cases: Readonly<Record<string, string>>, onlyHttp?: true): ServerCase[] {
  return Object.entries(cases).map(([name, text]) => ({
    name,
    said: [text],
    expect: "failed",
    ...(onlyHttp && { onlyHttp }),
  }));
}

function passed(cases: Readonly<Record<string, readonly string[]>>): ServerCase[] {
  return Object.entries(cases).map(([name, said]) => ({ name, said, expect: OK }));
}

export const SERVER_CASES: readonly ServerCase[] = [
  ...failed({
    "result twice": `{${head},"result":{},"result":{"evil":true}}`,
    "result and error": `{${head},"result":{},"error":{"code":1,"message":"x"}}`,
    "a key twice in the result": `{${head},"result":{"content":[],"content":[{}]}}`,
    "an escaped key in the result": `{${head},"result":{"c\\u006fntent":[]}}`,
    "an escaped key beside the result": `{${head},"result":{},"r\\u0065sult":{}}`,
    "a key twice in the error": `{${head},"error":{"code":1,"code":2,"message":"x"}}`,
    "an answer that is also a request": `{${head},"method":"ping","result":{}}`,
    "a result that is no object": `{${head},"result":[]}`,
    "a result that is null": `{${head},"result":null}`,
    "no version": `{"id":{id},"result":{}}`,
    "another version": `{"jsonrpc":"1.0","id":{id},"result":{}}`,
  }),
  ...failed(
    {
      "nested too deep": `{${head},"result":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`,
      "id twice": `{"jsonrpc":"2.0","id":0,"id":{id},"result":{}}`,
      "an escaped id": `{"jsonrpc":"2.0","\\u0069d":{id},"result":{}}`,
      "not JSON": "{'jsonrpc':'2.0'}",
      "a byte that is not UTF-8": `{${head},"result":{"a":"\xff"}}`,
      "an overlong character": `{${head},"result":{"a":"\xc0\xaf"}}`,
      "a raw control character": `{${head},"result":{"a":"\x01"}}`,
      "text behind the answer": `${OK}x`,
      "two answers without a break": OK + OK,
    },
    true,
  ),
  {
    name: "a question with two progress tokens",
    said: [
      '{"jsonrpc":"2.0","id":"q","method":"roots/list","params":{"_meta":{"progressToken":1,"progressToken":2}}}',
      OK,
    ],
    expect: "either",
  },
  ...passed({
    "an answer to a call that was never made": [evil("987654"), OK],
    "an answer under the id as a string": [evil('"{id}"'), OK],
    "an answer under no id": [evil("null"), OK],
    "a second answer": [OK, evil("{id}")],
    "a second answer that is an error": [OK, `{${head},"error":{"code":1,"message":"evil"}}`],
    "progress nobody asked for": [
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{id},"progress":1}}',
      OK,
    ],
    "a withdrawal of a question nobody asked": [
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{id}}}',
      OK,
    ],
  }),
];
