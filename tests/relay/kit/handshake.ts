/** The part of an MCP server that every test needs alike: it opens sessions and lists what the test prescribes. */

/** Texts of the entries of each list, exactly as they are offered. */
export type Offers = {
  readonly tools?: readonly string[];
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
  readonly prompts?: readonly string[];
};

export type Skimmed = { readonly id?: unknown; readonly method?: string };

const LISTS: Readonly<Record<string, { member: string; of: keyof Offers }>> = {
  "tools/list": { member: "tools", of: "tools" },
  "resources/list": { member: "resources", of: "resources" },
  "resources/templates/list": { member: "resourceTemplates", of: "templates" },
  "prompts/list": { member: "prompts", of: "prompts" },
};

/** The answer to a request of the handshake; undefined for everything that tests want to see. */
export function handshakeAnswer(message: Skimmed, offers: Offers): string | undefined {
  const result = resultOf(message.method ?? "", offers);
  return result === undefined ? undefined : `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}`;
}

export function isHandshakeNotice(message: Skimmed): boolean {
  return message.method === "notifications/initialized";
}

function resultOf(method: string, offers: Offers): string | undefined {
  if (method === "initialize") {
    const capabilities = {
      tools: {},
      prompts: {},
      resources: { subscribe: true },
      logging: {},
      completions: {},
      experimental: { "x-relay": {} },
    };
    return JSON.stringify({
      protocolVersion: "2025-11-25",
      capabilities,
      serverInfo: { name: "recording", version: "1" },
    });
  }
  if (method === "logging/setLevel" || method === "ping") return "{}";
  const list = Object.hasOwn(LISTS, method) ? LISTS[method] : undefined;
  return list && `{"${list.member}":[${(offers[list.of] ?? []).join(",")}]}`;
}
