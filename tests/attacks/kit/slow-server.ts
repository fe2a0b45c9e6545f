/**
 * A server whose calls run until the test ends them, whatever their callers do: it takes neither a cancel nor a closed
 * connection for a reason to stop, as most servers do. Its tool `job` becomes a task of its own, whose result runs so. Calls of
 * `again` may be sent once more where they are lost.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Rpc = {
  id?: number;
  method?: string;
  params?: { name?: string; task?: object; taskId?: string; arguments?: { who?: string } };
};
type Running = { readonly who: string; readonly end: () => void; readonly lose: () => void };

const WORK = { name: "work", inputSchema: { type: "object" } };
const JOB = { name: "job", inputSchema: { type: "object" }, execution: { taskSupport: "optional" } };
const AGAIN = { name: "again", inputSchema: { type: "object" }, annotations: { idempotentHint: true } };

function taskOf(taskId: string | undefined): object {
  const createdAt = new Date().toISOString();
  return { taskId, status: "working", createdAt, lastUpdatedAt: createdAt, ttl: 600_000, pollInterval: 1000 };
}

export class SlowServer implements AsyncDisposable {
  /** Who has begun a call, in order. */
  readonly begun: string[] = [];
  /** What it says of `work`. */
  description = "Works.";
  readonly #running = new Set<Running>();
  #jobs = 0;
  readonly #http = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => this.#answer(request.method === "POST" ? (JSON.parse(body) as Rpc) : {}, response));
  });

  static async start(): Promise<SlowServer> {
    const server = new SlowServer();
    await new Promise<void>((resolve) => server.#http.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}/mcp`;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Ends the oldest call of anybody that runs. */
  endOne(): void {
    const [first] = this.#running;
    first?.end();
  }

  endAll(): void {
    for (const one of [...this.#running]) one.end();
  }

  /** The connections of all that run break. */
  loseAll(): void {
    for (const one of [...this.#running]) one.lose();
  }

  #answer({ id, method, params }: Rpc, response: ServerResponse): void {
    const result = (value: object) => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: value }));
    };
    if (method === "initialize")
      result({
        protocolVersion: "2025-11-25",
        capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
        serverInfo: { name: "slow", version: "1" },
      });
    else if (method === "tools/list") result({ tools: [{ ...WORK, description: this.description }, JOB, AGAIN] });
    else if (method === "tools/call" && params?.task) result({ task: taskOf(`job ${++this.#jobs}`) });
    else if (method === "tasks/get") result(taskOf(params?.taskId));
    else if (method === "tasks/result") this.#run("result", response, () => result({ content: [] }));
    else if (method === "tools/call") this.#run(params?.arguments?.who ?? "", response, () => result({ content: [] }));
    else response.writeHead(id === undefined && method ? 202 : 405).end();
  }

  #run(who: string, response: ServerResponse, answer: () => void): void {
    this.begun.push(who);
    const running: Running = {
      who,
      end: () => {
        this.#running.delete(running);
        answer();
      },
      lose: () => {
        this.#running.delete(running);
        response.destroy();
      },
    };
    this.#running.add(running);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.endAll();
    this.#http.closeAllConnections();
    await new Promise<void>((resolve) => this.#http.close(() => resolve()));
  }
}
