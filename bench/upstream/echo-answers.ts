/**
 * What both upstream servers say: `initialize`, `tools/list` as ready bytes, and an echo for every `tools/call`.
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

export function createEchoAnswers(toolCount: number): EchoAnswers {
  const tools = makeTools(toolCount);
  return {
    answer(message) {
      if (message.id === undefined) return undefined;
      const start = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},`;
      switch (message.method) {
        case "tools/call":
          return [
            `${start}"result":{"content":[{"type":"text","text":${JSON.stringify(message.params?.arguments?.text ?? "")}}]}}`,
          ];
        case "tools/list":
          return [`${start}"result":{"tools":`, tools, "}}"];
        case "initialize": {
          const asked = message.params?.protocolVersion ?? "";
          const version = VERSIONS.includes(asked) ? asked : VERSIONS[0];
          return [
            `${start}"result":{"protocolVersion":"${version}","capabilities":{"tools":{}},"serverInfo":{"name":"bench-upstream","version":"1.0.0"}}}`,
          ];
        }
        case "ping":
          return [`${start}"result":{}}`];
        default:
          return [`${start}"error":{"code":-32601,"message":"Method not found"}}`];
      }
    },
  };
}
