/** A look into the running gateway from outside: its gauges, its open files, and its heap by way of Node's inspector. */
import { existsSync, readdirSync } from "node:fs";
import type { RunningGateway } from "../kit/gateway.ts";

type Reply = { readonly id?: number; readonly method?: string; readonly params?: { readonly chunk?: string } } & {
  readonly result?: Record<string, unknown>;
};

/** Objects of one class, or functions of one name. */
export type HeapCounts = ReadonlyMap<string, number>;

type Snapshot = {
  readonly snapshot: { readonly meta: { readonly node_fields: string[]; readonly node_types: (string | string[])[] } };
  readonly nodes: number[];
  readonly strings: string[];
};

export class GatewayProbe {
  readonly #gateway: RunningGateway;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: Record<string, unknown>) => void>();
  #chunks: string[] = [];
  #lastId = 0;

  private constructor(gateway: RunningGateway, socket: WebSocket) {
    this.#gateway = gateway;
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(String(data))));
  }

  /** The gateway must run with `--inspect=127.0.0.1:0`. */
  static async connect(gateway: RunningGateway): Promise<GatewayProbe> {
    const [, url = ""] = /listening on (ws:\/\/127\.0\.0\.1:\S+)/.exec(gateway.program.stderr) ?? [];
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", reject);
    });
    return new GatewayProbe(gateway, socket);
  }

  #take({ id, method, params, result = {} }: Reply): void {
    if (method === "HeapProfiler.addHeapSnapshotChunk") this.#chunks.push(params?.chunk ?? "");
    if (id === undefined) return;
    this.#waiting.get(id)?.(result);
    this.#waiting.delete(id);
  }

  #ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return new Promise((resolve) => {
      const id = ++this.#lastId;
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  /** Bytes in use once everything that can be collected was. */
  async heapBytes(): Promise<number> {
    await this.#ask("HeapProfiler.collectGarbage");
    return Number((await this.#ask("Runtime.getHeapUsage")).usedSize);
  }

  /** How many living objects and functions there are, by name. */
  async heapCounts(): Promise<HeapCounts> {
    this.#chunks = [];
    await this.#ask("HeapProfiler.takeHeapSnapshot");
    const taken: Snapshot = JSON.parse(this.#chunks.join(""));
    this.#chunks = [];
    return countNodes(taken);
  }

  /** The gauges of /metrics, by name. */
  async gauges(): Promise<Record<string, number>> {
    const text = await (await fetch(`${this.#gateway.origin}/metrics`)).text();
    const found = text.matchAll(/^(isthmus_(?:runs|sessions|upstream)\w*) (\d+)$/gm);
    return Object.fromEntries([...found].map(([, name = "", value]) => [name, Number(value)]));
  }

  /** Sockets, pipes and files; 0 where the system does not say. */
  openFiles(): number {
    const folder = `/proc/${this.#gateway.program.pid}/fd`;
    return existsSync(folder) ? readdirSync(folder).length : 0;
  }

  close(): void {
    this.#socket.close();
  }
}

function countNodes({ snapshot, nodes, strings }: Snapshot): HeapCounts {
  const { node_fields, node_types } = snapshot.meta;
  const counts = new Map<string, number>();
  const [kindAt, nameAt] = [node_fields.indexOf("type"), node_fields.indexOf("name")];
  const kinds = node_types[kindAt];
  for (let start = 0; start < nodes.length; start += node_fields.length) {
    const kind = kinds?.[nodes[start + kindAt] ?? 0];
    if (kind !== "object" && kind !== "closure") continue;
    const name = `${kind} ${strings[nodes[start + nameAt] ?? 0]}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}
