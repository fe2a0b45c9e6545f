/** What a client does to show that a feature works. Each throws, or returns a word on what came. */
import { isDeepStrictEqual } from "node:util";
import { type Ear, type Peer, TIMEOUT_MS } from "./peer.ts";
import type { Json } from "./sdk.ts";

/** What one server offers for one feature; see names.json. */
export type Offer = {
  readonly name: string;
  readonly arguments: Json;
  readonly uri: string;
  readonly expect: unknown;
} & Json;

type Feature = (peer: Peer, offer: Offer, ear: Ear) => Promise<string>;

const call: Feature = async (peer, offer) => {
  const result = await peer.callTool(offer.name, offer.arguments);
  if (result.isError === true) throw new Error(`isError: ${JSON.stringify(result.content)}`);
  return expectText(result.content, offer.expect);
};

const ask =
  (method: string): Feature =>
  async (peer, offer, ear) => {
    const before = ear.asked.length;
    ear.mostOpen = 0;
    const detail = await call(peer, offer, ear);
    const asked = ear.asked.slice(before);
    // A server may know the roots from before.
    if (asked.length === 0 && method === "roots/list") return detail;
    const wanted = Array.from({ length: Number(offer.questions ?? 1) }, () => method);
    if (!isDeepStrictEqual(asked, wanted)) throw new Error(`asked ${JSON.stringify(asked)}`);
    if (ear.mostOpen < wanted.length) throw new Error("asked one after the other");
    return detail;
  };

export const FEATURES: Readonly<Record<string, Feature>> = {
  "list-tools": async (peer, offer) => expectIn(await peer.listTools(), offer.name),
  call,
  "structured-output": async (peer, offer) => {
    const { structuredContent } = await peer.callTool(offer.name, offer.arguments);
    if (!isDeepStrictEqual(structuredContent, offer.expect)) throw new Error(JSON.stringify(structuredContent));
    return "equal";
  },
  progress: async (peer, offer) => {
    const steps: unknown[] = [];
    await peer.callTool(offer.name, offer.arguments, { onprogress: ({ progress }) => steps.push(progress) });
    // An SDK may hand out the last one after the result.
    await retry(async () => {
      if (steps.length < Number(offer.least)) throw new Error(`progress ${JSON.stringify(steps)}`);
    });
    const rises = steps.every((step, index) => index === 0 || Number(step) > Number(steps[index - 1]));
    if (!rises) throw new Error(`progress ${JSON.stringify(steps)}`);
    return `${steps.length} steps`;
  },
  logging: async (peer, offer, ear) => {
    const from = ear.heard.length;
    await peer.setLogLevel(String(offer.level));
    await peer.callTool(offer.name, offer.arguments);
    const fits = ({ data }: Json) => JSON.stringify(data).includes(String(offer.expect));
    const { params } = await ear.waitFor("notifications/message", fits, from);
    if (offer.twice === true) await peer.callTool(offer.name, offer.arguments);
    const never = ear.heard.slice(from).some((message) => JSON.stringify(message).includes(String(offer.never)));
    if (never) throw new Error(`a message below ${offer.level} came`);
    await peer.setLogLevel(undefined);
    return String(params?.level);
  },
  cancel: async (peer, offer, ear) => {
    const token = crypto.randomUUID();
    const stop = new AbortController();
    const options = { signal: stop.signal, onprogress: () => stop.abort(new Error("enough")) };
    const args = offer.seen === undefined ? offer.arguments : { ...offer.arguments, token };
    const outcome = await peer.callTool(offer.name, args, options).then(
      () => "answered",
      (error: unknown) => String(error),
    );
    if (outcome === "answered" || !stop.signal.aborted) throw new Error(`not cancelled: ${outcome}`);
    if (offer.seen === undefined) return expectIn(await peer.listTools(), offer.name);
    const seen = { ...offer, name: String(offer.seen), arguments: { token }, expect: "yes" };
    return retry(() => call(peer, seen, ear));
  },
  "list-resources": async (peer, offer) => expectIn(await peer.listResources(), offer.uri),
  "read-resource": async (peer, offer) => expectText(await peer.readResource(offer.uri), offer.expect),
  "resource-templates": async (peer, offer) => {
    expectIn(await peer.listResourceTemplates(), String(offer.template));
    return expectText(await peer.readResource(offer.uri), offer.expect);
  },
  "missing-resource": async (peer, offer) =>
    // Before 2026-07-28 it was -32002, which newer SDKs replace on either side.
    expectCode(peer.readResource(offer.uri), peer.isModern ? [-32602] : [-32602, -32002]),
  prompts: async (peer, offer) => {
    expectIn(await peer.listPrompts(), offer.name);
    return expectText(await peer.getPrompt(offer.name, offer.arguments), offer.expect);
  },
  completion: async (peer, offer) => {
    const values = await peer.complete(String(offer.prompt), String(offer.argument), String(offer.value));
    if (!isDeepStrictEqual(values, offer.expect)) throw new Error(JSON.stringify(values));
    return values.join(", ");
  },
  elicitation: ask("elicitation/create"),
  sampling: ask("sampling/createMessage"),
  roots: ask("roots/list"),
  "two-questions": ask("elicitation/create"),
  updates: async (peer, offer, ear) => {
    const end = await peer.subscribe(offer.uri);
    const from = ear.heard.length;
    await peer.callTool(offer.name, offer.arguments);
    await ear.waitFor("notifications/resources/updated", ({ uri }) => uri === offer.uri, from);
    if (offer.twice === true) await peer.callTool(offer.name, offer.arguments);
    await end();
    return offer.uri;
  },
  "list-changed": async (peer, offer, ear) => {
    const end = await peer.watchLists();
    const from = ear.heard.length;
    const result = await peer.callTool(offer.name, offer.arguments);
    await ear.waitFor(`notifications/${offer.list}/list_changed`, () => true, from);
    // The tool names what it has added, as text or as a link.
    const added = (result.content as Json[])[0] ?? {};
    const list = () => (offer.list === "tools" ? peer.listTools() : peer.listResources());
    // Another client may have caused the notification, before the change of our own call was seen.
    const detail = await retry(async () => expectIn(await list(), String(added.uri ?? added.text)));
    await end();
    return detail;
  },
  "error-result": async (peer, offer) => {
    const result = await peer.callTool(offer.name, offer.arguments);
    if (result.isError !== true) throw new Error(JSON.stringify(result));
    return expectText(result.content, offer.expect);
  },
  "unknown-tool": async (peer, offer) =>
    // The gateway says -32601 before 2026-07-28, as MCP-AX demands; the SDKs -32602.
    expectCode(peer.callTool(offer.name, {}), peer.isModern ? [-32602] : [-32602, -32601]),
};

async function retry<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function expectText(found: unknown, expected: unknown): string {
  const text = JSON.stringify(found);
  if (!text.includes(String(expected))) throw new Error(`not in it: ${expected}; ${text.slice(0, 300)}`);
  return String(expected);
}

function expectIn(list: readonly string[], name: string): string {
  if (!list.includes(name)) throw new Error(`${name} is not in ${JSON.stringify(list).slice(0, 300)}`);
  return name;
}

async function expectCode(answer: Promise<Json>, codes: readonly number[]): Promise<string> {
  const found = await answer.then(
    (result) => `a result: ${JSON.stringify(result)}`,
    (error: { code?: number; message?: string }) => error.code ?? String(error.message),
  );
  if (typeof found !== "number" || !codes.includes(found))
    throw new Error(`no ${codes}: ${String(found).slice(0, 300)}`);
  return String(found);
}
