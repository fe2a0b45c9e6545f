/** What the servers of this folder offer, under the names of names.json, whatever their SDK and revision. */
import type { Json, Message } from "./sdk.ts";

/** A call in progress. */
export type FixtureCall = {
  readonly args: Json;
  /** By key; absent until the client has answered. */
  readonly answers: Readonly<Record<string, Json>> | undefined;
  readonly signal: AbortSignal;
  progress(progress: number, total: number): Promise<void>;
  log(level: string, data: string): Promise<void>;
  /** To whoever has subscribed to it. */
  updated(uri: string): Promise<void>;
  toolsChanged(): Promise<void>;
};

/** `ask` ends this run; the tool runs again with the answers. */
type Outcome = { readonly result: Json } | { readonly ask: Readonly<Record<string, Message>> };

const text = (value: string): Outcome => ({ result: { content: [{ type: "text", text: value }] } });

const elicit = (message: string): Message => {
  const requestedSchema = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
};
const sample: Message = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "Who?" } }], maxTokens: 10 },
};
const named = (answer: Json | undefined) => String((answer?.content as Json | undefined)?.name);

const cancelled = new Set<unknown>();
const grown: string[] = [];

const TOOLS: Readonly<Record<string, (call: FixtureCall) => Promise<Outcome>>> = {
  echo: async ({ args }) => text(String(args.message)),
  weather: async ({ args }) => {
    const structuredContent = { city: args.city, degrees: 31 };
    return { result: { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent } };
  },
  count: async ({ args, progress }) => {
    for (let step = 1; step <= Number(args.to); step++) await progress(step, Number(args.to));
    return text("counted");
  },
  log: async ({ log }) => {
    await log("debug", "heard at debug");
    await log("info", "heard at info");
    return text("logged");
  },
  wait: async ({ args, signal, progress }) => {
    await progress(1, 2);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    cancelled.add(args.token);
    return text("cancelled");
  },
  "was-cancelled": async ({ args }) => text(cancelled.has(args.token) ? "yes" : "no"),
  "ask-name": async ({ answers }) => (answers ? text(named(answers.name)) : { ask: { name: elicit("Who are you?") } }),
  "ask-twice": async ({ answers }) =>
    answers
      ? text(`${named(answers.one)} and ${named(answers.two)}`)
      : { ask: { one: elicit("Who are you?"), two: elicit("And who else?") } },
  "ask-model": async ({ answers }) => (answers ? text(JSON.stringify(answers.model)) : { ask: { model: sample } }),
  "ask-roots": async ({ answers }) =>
    answers ? text(JSON.stringify(answers.roots)) : { ask: { roots: { method: "roots/list", params: {} } } },
  touch: async ({ args, updated }) => {
    await updated(String(args.uri));
    return text("touched");
  },
  grow: async ({ toolsChanged }) => {
    const name = `grown-${grown.length + 1}`;
    grown.push(name);
    await toolsChanged();
    return text(name);
  },
  fail: async () => ({ result: { isError: true, content: [{ type: "text", text: "failed on purpose" }] } }),
};

const OUTPUT = { type: "object", properties: { city: { type: "string" }, degrees: { type: "number" } } };

export const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  prompts: {},
  completions: {},
  logging: {},
};

export const listTools = (): Json => {
  const tools = [...Object.keys(TOOLS), ...grown].map((name) => ({ name, inputSchema: { type: "object" } }));
  return { tools: tools.map((tool) => (tool.name === "weather" ? { ...tool, outputSchema: OUTPUT } : tool)) };
};

/** Undefined when there is no such tool. */
export const callTool = (name: unknown, call: FixtureCall): Promise<Outcome> | undefined => TOOLS[String(name)]?.(call);

/** The methods without a story. Undefined when there is no such resource or prompt. */
export const PLAIN: Readonly<Record<string, (params: Json) => Json | undefined>> = {
  "resources/list": () => ({ resources: [{ uri: "eras://note", name: "note" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "eras://day/{day}", name: "day" }] }),
  "resources/read": ({ uri }) => {
    const [, day] = /^eras:\/\/day\/(.+)$/.exec(String(uri)) ?? [];
    const content = uri === "eras://note" ? "a note" : day && `what happens on ${day}`;
    return content ? { contents: [{ uri, text: content }] } : undefined;
  },
  "prompts/list": () => ({ prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }] }),
  "prompts/get": ({ name, arguments: args }) => {
    const content = { type: "text", text: `Say hello to ${(args as Json | undefined)?.who}` };
    return name === "greet" ? { messages: [{ role: "user", content }] } : undefined;
  },
  "completion/complete": ({ argument }) => {
    const values = ["Ada", "Alan", "Grace"].filter((who) => who.startsWith(String((argument as Json).value)));
    return { completion: { values } };
  },
};
