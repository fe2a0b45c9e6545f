/** The clients in front of the gateway. Two of them (the AI SDK and Python's) speak 2026-07-28 when they find it. */
import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type Connect, partPath, type RealClient, type Result, type Tool } from "./part.ts";
import { connectPython } from "./python-client.ts";
import { connectStdio } from "./stdio-client.ts";

const runFile = promisify(execFile);

const INSPECTOR = partPath("@modelcontextprotocol/inspector/clients/launcher/build/index.js");

/** Each question is a run of the program, as a person at a shell has it. */
const connectInspector: Connect = async ({ url, home }) => {
  const ask = async (...args: readonly string[]) => {
    const target = [INSPECTOR, "--cli", url, "--transport", "http", "--format", "json", "--stored-auth-only"];
    const env = { PATH: process.env.PATH, HOME: home };
    const { stdout } = await runFile(process.execPath, [...target, ...args], {
      env,
      timeout: 30_000,
      maxBuffer: 8_000_000,
    });
    return JSON.parse(stdout).result;
  };
  return {
    list: async () => (await ask("--method", "tools/list")).tools,
    call: (name, args) =>
      ask(
        ...["--method", "tools/call", "--tool-name", name],
        ...Object.entries(args).flatMap(([key, value]) => [
          "--tool-arg",
          `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
        ]),
      ),
    close: async () => {},
  };
};

/** For clients that only start programs: it speaks stdio to them and HTTP to the gateway. */
const connectMcpRemote: Connect = ({ url, home }) =>
  connectStdio({
    args: [partPath("mcp-remote/dist/proxy.js"), url, "--allow-http", "--transport", "http-only"],
    env: { PATH: process.env.PATH ?? "", HOME: home },
  });

type AiTool = {
  execute(args: object, options: { messages: readonly unknown[]; toolCallId: string }): Promise<Result>;
};
type AiClient = {
  listTools(): Promise<{ tools: readonly Tool[] }>;
  tools(): Promise<Record<string, AiTool>>;
  close(): Promise<void>;
};
type AiModule = { createMCPClient(options: { transport: { type: "http"; url: string } }): Promise<AiClient> };

const connectAiSdk: Connect = async ({ url }): Promise<RealClient> => {
  const module: AiModule = await import(pathToFileURL(partPath("@ai-sdk/mcp/dist/index.js")).href);
  const client = await module.createMCPClient({ transport: { type: "http", url } });
  const tools = await client.tools();
  return {
    list: async () => (await client.listTools()).tools,
    call(name, args) {
      const tool = tools[name];
      if (tool === undefined) throw new Error(`the AI SDK has no tool ${name}`);
      return tool.execute(args, { messages: [], toolCallId: name });
    },
    close: () => client.close(),
  };
};

export const CLIENTS: Readonly<Record<string, Connect>> = {
  "Inspector CLI": connectInspector,
  "mcp-remote": connectMcpRemote,
  "AI SDK": connectAiSdk,
  "Python SDK": connectPython,
};
