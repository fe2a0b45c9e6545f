/**
 * What the upstream servers say: how they are opened, `tools/list` as ready bytes, and an echo for every `tools/call`.
 * Deliberately small: the upstream must cost far less per call than any gateway in front of it.
 */
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

type Message = {
  id?: string | number;
  method?: string;
  params?: { protocolVersion?: string; arguments?: { text?: string } };
};

export type EchoAnswers = {
  /** The JSON-RPC answer, in one or more pieces, or undefined when the message asks for none. */
  answer(message: Message): readonly (string | Buffer)[] | undefined;
};

/** What the answers of one era have beside what both have. */
export type EraAnswers = {
  /** The result that opens this era, by the method that asks for it; undefined where that is not this one. */
  opening(message: Message): string | undefined;
  /** Further members of a result, each with a comma behind it. */
  readonly result: string;
  readonly list: string;
};

export const LEGACY: EraAnswers = {
  opening({ method, params }) {
    if (method === "ping") return "{}";
    if (method !== "initialize") return undefined;
    const asked = params?.protocolVersion ?? "";
    const version = VERSIONS.includes(asked) ? asked : VERSIONS[0];
    return `{"protocolVersion":"${version}","capabilities":{"tools":{}},"serverInfo":{"name":"bench-upstream","version":"1.0.0"}}`;
  },
  result: "",
  list: "",
};

const CACHED = '"resultType":"complete","ttlMs":3600000,"cacheScope":"public",';

export const MODERN: EraAnswers = {
  opening: ({ method }) =>
    method === "server/discover"
      ? `{${CACHED}"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
      : undefined,
  result: '"resultType":"complete",',
  list: CACHED,
};

/** Every tool is about 200 bytes; the first is called `echo`, and all of them echo. */
function makeTools(count: number): Buffer {
  const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  const tools = Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? "echo" : `tool_${String(index).padStart(5, "0")}`,
    description: `Number ${String(index).padStart(5, "0")} of the tools of the measuring upstream; echoes its text.`,
    inputSchema: schema,
  }));
  return Buffer.from(JSON.stringify(tools));
}

export function createEchoAnswers(toolCount: number, era: EraAnswers): EchoAnswers {
  const tools = makeTools(toolCount);
  return {
    answer(message) {
      if (message.id === undefined) return undefined;
      const start = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},`;
      switch (message.method) {
        case "tools/call":
          return [
            `${start}"result":{${era.result}"content":[{"type":"text","text":${JSON.stringify(message.params?.arguments?.text ?? "")}}]}}`,
          ];
        case "tools/list":
          return [`${start}"result":{${era.list}"tools":`, tools, "}}"];
        default: {
          const opening = era.opening(message);
          if (opening !== undefined) return [`${start}"result":${opening}}`];
          return [`${start}"error":{"code":-32601,"message":"Method not found"}}`];
        }
      }
    },
  };
}
