/** A client of `isthmus stdio`. Everything comes on one pipe, in order. */
import { Program } from "../../e2e/kit/program.ts";
import { type Client, type Conversation, INITIALIZED, initializeText, isListChange } from "./client.ts";
import { Inbox } from "./inbox.ts";

export async function openStdioClient(config: string, args: readonly string[] = []): Promise<StdioClient> {
  const client = new StdioClient(new Program(["stdio", "--config", "isthmus.toml", ...args], { config }));
  client.request(initializeText());
  await client.outside.next();
  await client.tell(INITIALIZED);
  return client;
}

export class StdioClient implements Client {
  readonly program: Program;
  readonly outside = new Inbox<string>("a line from isthmus stdio");

  constructor(program: Program) {
    this.program = program;
    let rest = "";
    program.child.stdout.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (!isListChange(line)) this.outside.push(Buffer.from(line).toString("latin1"));
    });
  }

  request(text: string): Conversation {
    this.write(Buffer.from(text.replace(/[\r\n]/g, " "), "latin1"));
    return { inbox: this.outside };
  }

  tell(text: string): Promise<void> {
    this.request(text);
    return Promise.resolve();
  }

  /** One line, as bytes. */
  write(line: Buffer): void {
    this.program.child.stdin.write(Buffer.concat([line, Buffer.from("\n")]));
  }

  async close(): Promise<void> {
    this.program.child.stdin.end();
    await this.program.stop();
  }
}
