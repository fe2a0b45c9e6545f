/**
 * An MCP server on stdio that is like a browser: each process has its own tabs, and one page that it shows. `node
 * browser-server.ts MARK`: the mark stands in the command line, so that processes can be counted from outside.
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

type Message = {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly protocolVersion?: string;
    readonly arguments?: { readonly url?: string; readonly steps?: number; readonly ms?: number };
    readonly _meta?: { readonly progressToken?: string | number };
  };
  readonly result?: { readonly action?: string; readonly content?: object };
};

const tabs: string[] = [];
const subscribed = new Set<string>();
const waiting = new Map<string | number, (answer: Message) => void>();
const PAGE = `browser://${process.argv[2]}/page`;
let questions = 0;

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } });
const TOOLS = [
  tool("open", "Opens a tab and shows it."),
  tool("look", "Says what is open."),
  tool("confirm", "Asks the user."),
  tool("download", "Takes its time and tells of its progress."),
];

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

const say = (value: object) => ({ content: [{ type: "text", text: JSON.stringify({ pid: process.pid, ...value }) }] });

function ask(message: string): Promise<Message> {
  const id = `question-${++questions}`;
  const requestedSchema = { type: "object", properties: { word: { type: "string" } } };
  send({ id, method: "elicitation/create", params: { message, requestedSchema } });
  return new Promise((resolve) => waiting.set(id, resolve));
}

async function call({ name, arguments: args = {}, _meta }: NonNullable<Message["params"]>): Promise<object> {
  switch (name) {
    case "open":
      tabs.push(args.url ?? "");
      if (subscribed.has(PAGE)) send({ method: "notifications/resources/updated", params: { uri: PAGE } });
      return say({ tabs });
    case "look":
      if (args.ms !== undefined) await sleep(args.ms);
      return say({ tabs });
    case "confirm":
      return say({ said: (await ask("Really?")).result });
    case "download":
      for (let progress = 1; progress <= (args.steps ?? 1); progress++) {
        await sleep(args.ms ?? 100);
        send({ method: "notifications/progress", params: { progressToken: _meta?.progressToken, progress } });
      }
      return say({ steps: args.steps });
    default:
      throw new Error(`no such tool: ${name}`);
  }
}

function answer({ method, params = {} }: Message): object | Promise<object> {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion ?? "2025-11-25",
        capabilities: { tools: {}, resources: { subscribe: true } },
        serverInfo: { name: "browser", version: "1.0.0" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: TOOLS };
    case "tools/call":
      return call(params);
    case "resources/list":
      return { resources: [{ uri: PAGE, name: "page" }] };
    case "resources/templates/list":
      return { resourceTemplates: [] };
    case "resources/read":
      return { contents: [{ uri: PAGE, text: tabs.at(-1) ?? "" }] };
    case "resources/subscribe":
      subscribed.add(PAGE);
      return {};
    case "resources/unsubscribe":
      subscribed.delete(PAGE);
      return {};
    default:
      throw new Error(`unknown method: ${method}`);
  }
}

async function handle(message: Message): Promise<void> {
  const { id, method } = message;
  if (id === undefined) return;
  if (method === undefined) return waiting.get(id)?.(message);
  try {
    send({ id, result: await answer(message) });
  } catch (error) {
    send({ id, error: { code: -32601, message: (error as Error).message } });
  }
}

createInterface({ input: process.stdin }).on("line", (line) => void handle(JSON.parse(line) as Message));
process.stdin.on("end", () => process.exit(0));
