/** A running gateway on a free port. */
import { join } from "node:path";
import { Program, type ProgramOptions, ROOT } from "./program.ts";

export type RunningGateway = {
  /** Where everything is served. */
  readonly url: string;
  readonly origin: string;
  readonly program: Program;
  readonly servers: readonly { id: string; status: string; tools: number; message?: string }[];
  stop(): Promise<number | null>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Resolves when every server has listed or failed once. */
export async function startGateway(options: ProgramOptions = {}): Promise<RunningGateway> {
  const program = new Program(["up", "--listen", "127.0.0.1:0", "--json"], options);
  const [line] = await program.output(/^\{.*\}\n/m);
  const { url, servers } = JSON.parse(line);
  return {
    url,
    origin: new URL(url).origin,
    program,
    servers,
    stop: () => program.stop(),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

/** A server table for the server of examples/hello. */
export function helloServer(id = "hello", more = ""): string {
  const server = join(ROOT, "examples/hello/server.mjs");
  return `[[servers]]\nid = ${JSON.stringify(id)}\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(server)}]\n${more}\n`;
}
