/** Several fronts in one process over one shared state, with a hop between them that needs no sockets. */
import { randomUUID } from "node:crypto";
import { GatewayError, type Hop, type HttpRequest, type HttpResponse, type Member } from "../../src/contract/index.ts";
import type { McpFront, McpFrontConfig, McpPathKind, McpPorts } from "../../src/fronts/mcp/index.ts";
import { createSeal } from "../../src/mechanisms/vault/index.ts";
import { createMemorySharedState } from "../../src/stores/memory/index.ts";
import { FakeView, okProvider } from "./fake-catalog.ts";
import { ManualTime } from "./manual-time.ts";
import { mcpRig } from "./mcp-rig.ts";

export const LEASE_MS = 15_000;

/** Passes everything on to the response of the process that took the request, and knows when it is over. */
class PassedResponse implements HttpResponse {
  readonly #to: HttpResponse;
  readonly #onEnd: () => void;
  hasBegun = false;
  isCut = false;

  constructor(to: HttpResponse, onEnd: () => void) {
    this.#to = to;
    this.#onEnd = onEnd;
  }

  #end(end: () => void): void {
    if (this.isCut) return;
    this.hasBegun = true;
    end();
    this.#onEnd();
  }

  answer(status: number, lines: string, body: string): void {
    this.#end(() => this.#to.answer(status, lines, body));
  }

  answerParts(status: number, lines: string, head: string, body: Buffer, tail: string): void {
    this.#end(() => this.#to.answerParts(status, lines, head, body, tail));
  }

  open(status: number, lines: string): void {
    if (!this.isCut) this.#to.open(status, lines);
  }

  write(text: string): boolean {
    this.hasBegun = true;
    return this.isCut || this.#to.write(text);
  }

  end(text?: string): void {
    this.#end(() => this.#to.end(text));
  }

  cut(): void {
    this.#end(() => this.#to.cut());
  }

  get isOver(): boolean {
    return this.isCut || this.#to.isOver;
  }

  get onDrain(): (() => void) | undefined {
    return this.#to.onDrain;
  }

  set onDrain(listener: (() => void) | undefined) {
    this.#to.onDrain = listener;
  }

  get onClose(): (() => void) | undefined {
    return this.#to.onClose;
  }

  set onClose(listener: (() => void) | undefined) {
    this.#to.onClose =
      listener &&
      (() => {
        listener();
        this.#onEnd();
      });
  }
}

type Node = { front: McpFront; isDead: boolean; readonly passing: Set<() => void> };

/** `passed`: every request that went from one front to another, as `method member`. */
class FakeHops {
  readonly nodes = new Map<string, Node>();
  readonly forwarded: string[] = [];
  readonly #passed = new WeakMap<HttpRequest, number>();
  /** Says yes to whether a dead process had got the request. */
  wasSent = false;
  /** Requests stop here instead of reaching the other front; it may be killed meanwhile. */
  hold: Promise<void> | undefined;

  hop(self: Member): Hop {
    return {
      self,
      passed: (request) => this.#passed.get(request) ?? 0,
      forward: async (request, body, response, to) => {
        this.forwarded.push(request.method);
        const node = this.nodes.get(to.id);
        if (!node || node.isDead) return { type: "lost", wasSent: this.wasSent };
        await this.hold;
        if (node.isDead) return { type: "lost", wasSent: this.wasSent };
        return this.#pass(node, request, body, response);
      },
    };
  }

  async #pass(node: Node, request: HttpRequest, body: string, response: HttpResponse) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const passed = new PassedResponse(response, resolve);
    let isLost = false;
    const lose = () => {
      passed.isCut = true;
      isLost = true;
      if (passed.hasBegun) response.cut();
      resolve();
    };
    node.passing.add(lose);
    const inner: HttpRequest = {
      method: request.method,
      url: request.url,
      headers: request.headers,
      principal: request.principal,
      clientAddress: request.clientAddress,
      body: (_maxBytes, taker) => taker.onBody(body),
      discard: () => undefined,
    };
    this.#passed.set(inner, (this.#passed.get(request) ?? 0) + 1);
    handle(node.front, inner, passed);
    await promise;
    node.passing.delete(lose);
    return isLost ? ({ type: "lost", wasSent: true } as const) : ({ type: "answered" } as const);
  }
}

function handle(front: McpFront, request: HttpRequest, response: HttpResponse): void {
  const path = request.url.split("?")[0] ?? "";
  const kind: McpPathKind = path.endsWith("/sse") ? "sse" : path.endsWith("/messages") ? "messages" : "mcp";
  front.handle(request, response, path.split("/").length > 2 ? (path.split("/")[1] ?? "") : "", kind);
}

type ClusterOptions = {
  config?: Partial<McpFrontConfig>;
  view?: () => FakeView;
  idleMs?: number;
  outbox?: { maxItems: number; maxBytes: number };
  mgp?: McpPorts["mgp"];
  /** Without a way between the processes: they follow each other. */
  hasNoHop?: boolean;
};

export async function clusterRig(options: ClusterOptions = {}) {
  const time = new ManualTime();
  const memory = createMemorySharedState({ clock: time });
  const keys = createSeal();
  const hops = new FakeHops();
  const words: string[] = [];
  const outage = { isOn: false };
  const refused = () => Promise.reject(new GatewayError("STATE_UNAVAILABLE"));
  const withOutage = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name === "publish") words.push(String(args[0]));
          return outage.isOn && name !== "publish" ? refused() : Reflect.apply(value, target, args);
        };
      },
    });
  const state = {
    ...memory,
    members: withOutage(memory.members),
    entries: withOutage(memory.entries),
    logs: withOutage(memory.logs),
    channel: withOutage(memory.channel),
    calls: withOutage(memory.calls),
  };

  async function join() {
    const self: Member = { id: randomUUID(), address: options.hasNoHop ? "" : "127.0.0.1:1" };
    await memory.members.join(self, LEASE_MS);
    const { config, idleMs, outbox, mgp } = options;
    const rig = await mcpRig({
      time,
      keys,
      ...(options.view && { view: options.view() }),
      ...(config && { config }),
      ...(idleMs && { idleMs }),
      ...(outbox && { outbox }),
      ...(mgp && { mgp }),
      cluster: { state, member: () => self.id, leaseMs: LEASE_MS, ...(!options.hasNoHop && { hop: hops.hop(self) }) },
    });
    const node: Node = { front: rig.front, isDead: false, passing: new Set() };
    hops.nodes.set(self.id, node);
    /** The process is gone in the middle of everything. Its lease is over at once, or (`isSilent`) in its time. */
    async function kill({ isSilent = false } = {}): Promise<void> {
      node.isDead = true;
      for (const lose of [...node.passing]) lose();
      rig.sessions.forgetAll();
      if (!isSilent) await memory.members.leave(self.id);
    }
    return { ...rig, self, node, kill };
  }

  const nodes = [await join(), await join()] as const;
  return {
    time,
    state,
    memory,
    hops,
    words,
    outage,
    a: nodes[0],
    b: nodes[1],
    join,
    async [Symbol.asyncDispose]() {
      outage.isOn = false;
      for (const node of nodes) await node[Symbol.asyncDispose]();
    },
  };
}

export const RESOURCES = () =>
  new FakeView(
    1,
    [okProvider("files")],
    [
      { kind: "tool", name: "files.echo", own: "echo" },
      { kind: "resource", name: "doc://a" },
    ],
  );
