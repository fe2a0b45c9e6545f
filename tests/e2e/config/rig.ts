/** A gateway whose config file a test rewrites while it runs. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { type ProgramOptions, ROOT } from "../kit/program.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";
import { counter, until } from "./watching.ts";

const SERVER = join(ROOT, "tests/e2e/config/echo-server.mjs");

/** A table for the server of this folder; `args` are names of further tools. */
export function echoServer(id: string, args: readonly string[] = [], more = ""): string {
  return `[[servers]]\nid = "${id}"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([SERVER, ...args])}\n${more}\n`;
}

export type Who = { readonly pid: number; readonly args: readonly string[]; readonly token: string | null };

export class Rig {
  readonly gateway: RunningGateway;
  readonly session: Record<string, string>;

  private constructor(gateway: RunningGateway, session: Record<string, string>) {
    this.gateway = gateway;
    this.session = session;
  }

  static async start(config: string, options: ProgramOptions = {}): Promise<Rig> {
    const gateway = await startGateway({ ...options, config });
    return new Rig(gateway, await openSession(gateway.url));
  }

  /** As most editors write: another file, renamed over the old one. */
  replace(name: string, text: string): void {
    const file = join(this.gateway.program.folder, name);
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }

  writeInPlace(name: string, text: string): void {
    writeFileSync(join(this.gateway.program.folder, name), text);
  }

  ask(message: object): Promise<RpcMessage | undefined> {
    return post(this.gateway.url, message, this.session).then(({ messages }) => messages.at(-1));
  }

  async tools(): Promise<string[]> {
    const answer = await this.ask({ id: 1, method: "tools/list" });
    return ((answer?.result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
  }

  /** Resolves when the list has this tool, or no longer has it. */
  untilTool(name: string, isThere = true): Promise<true> {
    return until(async () => (await this.tools()).includes(name) === isThere || undefined, `${name} ${isThere}`);
  }

  async who(server: string, tool = "who", args: object = {}): Promise<Who> {
    const answer = await this.ask(toolCall(2, `${server}.${tool}`, args));
    const [content] = (answer?.result?.content ?? []) as { text: string }[];
    if (!content) throw new Error(`no answer: ${JSON.stringify(answer)}`);
    return JSON.parse(content.text);
  }

  /** The client's stream of what happens outside its calls. */
  async listen(): Promise<{ readonly heard: string; [Symbol.asyncDispose](): Promise<void> }> {
    const ending = new AbortController();
    const headers = { accept: "text/event-stream", ...this.session };
    const { body } = await fetch(this.gateway.url, { headers, signal: ending.signal });
    let heard = "";
    const reading = (async () => {
      for await (const part of body ?? []) heard += Buffer.from(part).toString();
    })().catch(() => undefined);
    return {
      get heard() {
        return heard;
      },
      async [Symbol.asyncDispose]() {
        ending.abort();
        await reading;
      },
    };
  }

  reloads(outcome: "ok" | "refused"): Promise<number> {
    return counter(this.gateway.origin, `isthmus_config_reloads_total{outcome="${outcome}"}`);
  }

  async untilReloads(outcome: "ok" | "refused", count: number): Promise<void> {
    await until(async () => (await this.reloads(outcome)) >= count || undefined, `${count} ${outcome}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
  }
}
