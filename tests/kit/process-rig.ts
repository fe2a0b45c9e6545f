/** Several processes of a gateway as far as calls and tasks go: fronts with real kernels over one store. */
import type { AddressInfo } from "node:net";
import type { Hop, HttpRequest, HttpResponse, Member, Primitive, SharedState } from "../../src/contract/index.ts";
import { type Host, payload } from "../../src/contract/index.ts";
import { createMcpFront } from "../../src/fronts/mcp/index.ts";
import { createKernel } from "../../src/kernel/index.ts";
import { KeptTasks } from "../../src/mechanisms/runs/index.ts";
import { createSessions } from "../../src/mechanisms/sessions/index.ts";
import { createSeal } from "../../src/mechanisms/vault/index.ts";
import { HttpListener } from "../../src/server/http/index.ts";
import { ledgerStage } from "../../src/stages/ledger-stage.ts";
import { createMemorySharedState } from "../../src/stores/memory/index.ts";
import { atOnce } from "./at-once.ts";
import { FakeTaskRows } from "./fake-task-rows.ts";
import { ManualTime } from "./manual-time.ts";
import { until } from "./mcp-rig.ts";
import { KeptLog, KeptMeter, noSessions } from "./quiet.ts";
import { type ScriptedCall, ScriptedProvider, toolNamed } from "./scripted-provider.ts";

const LEASE_MS = 3_600_000;

/** What all processes share. */
export function sharedParts(outlasts?: Primitive["outlasts"]) {
  const time = new ManualTime();
  const rows = new FakeTaskRows();
  const real = createMemorySharedState({ clock: time });
  const health = { isUp: true };
  const state: SharedState = Object.defineProperty({ ...real }, "isUp", { get: () => health.isUp });
  /** Every call that reached a server, in whichever process. */
  const made: ScriptedCall[] = [];
  return { time, rows, state, health, made, outlasts, hops: 0 };
}

export type SharedParts = ReturnType<typeof sharedParts>;

class CountedProvider extends ScriptedProvider {
  readonly #shared: SharedParts;

  constructor(shared: SharedParts) {
    super("files", []);
    this.#shared = shared;
    const { run } = this;
    this.run = (call, out) => {
      const running = run(call, out);
      shared.made.push(this.calls.get(call.id) as ScriptedCall);
      return running;
    };
  }

  override async open(host: Host): Promise<void> {
    const { outlasts } = this.#shared;
    const tool = { ...toolNamed("echo"), ...(outlasts !== undefined && { outlasts }) };
    void host.offer("shared", [{ kind: "tool", primitives: [tool], extras: "" }]);
    host.state({ status: "ok", about: { capabilities: payload('{"tools":{}}') } });
  }
}

export type Answer = { readonly status: number; readonly text: string; readonly body: object };

/** One process. */
export async function processRig(shared: SharedParts, id: string) {
  const { time, state, rows } = shared;
  const [clock, timers, log, meter] = [time, time, new KeptLog(), new KeptMeter()];
  const ports = { clock, timers, log, meter };
  const member = () => id;
  const stage = ledgerStage({ state, clock, timers, member, isShared: true });
  const records = {
    tasks: rows,
    get isUp() {
      return rows.isUp;
    },
  };
  const kernel = createKernel({
    ...ports,
    slices: atOnce,
    sessions: noSessions,
    stages: [() => stage],
    durable: { records, member },
  });
  kernel.mount(new CountedProvider(shared), { segment: "files", concurrency: 16, timeoutMs: 60_000 });
  await kernel.open(new AbortController().signal);
  const sessions = createSessions({ ...ports, shared: { state, member } });
  const tasks = new KeptTasks({ ...ports, store: { records, members: state.members, member } });
  const self: { id: string; address: string } = { id, address: "" };
  const front = createMcpFront({
    ...ports,
    slices: atOnce,
    catalog: kernel.catalog,
    runs: kernel.runs,
    sessions,
    tasks,
    keys: createSeal(),
    cluster: { state, member, leaseMs: LEASE_MS, hop: plainHop(self, shared) },
    config: {
      sessions: "auto",
      allowedHosts: [],
      allowedOrigins: [],
      maxBody: 4 * 1024 * 1024,
      inputMs: 600_000,
      serverInfo: { name: "isthmus", version: "0.0.0" },
    },
  });
  const listener = new HttpListener({
    timers: new ManualTime(),
    onRequest: (request, response) => front.handle(request, response, "", "mcp"),
    onError: (cause) => log.error("request failed", { cause }),
  });
  await new Promise<void>((resolve) => listener.server.listen(0, "127.0.0.1", resolve));
  self.address = `127.0.0.1:${(listener.server.address() as AddressInfo).port}`;
  await state.members.join({ ...self }, LEASE_MS);

  async function send({ body, headers = {} }: { body?: unknown; headers?: Record<string, string> }): Promise<Answer> {
    const base = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await fetch(`http://${self.address}/mcp`, {
      method: "POST",
      headers: { ...base, ...headers },
      body: text,
    });
    const got = await answer.text();
    return {
      status: answer.status,
      text: got,
      get body() {
        return JSON.parse(got);
      },
    };
  }

  async function initialize(): Promise<Record<string, string>> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    const headers = { "content-type": "application/json", accept: "application/json" };
    const answer = await fetch(`http://${self.address}/mcp`, { method: "POST", headers, body });
    await answer.text();
    return { "mcp-session-id": answer.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" };
  }

  return {
    id,
    send,
    initialize,
    kernel,
    tasks,
    log,
    /** Its lease is over, as the others see it. */
    die: () => state.members.leave(id),
    async [Symbol.asyncDispose]() {
      tasks.close();
      front.close();
      await kernel.close();
      await listener.close();
    },
  };
}

/** The n-th call that reached a server, when it has. */
export async function nthMade({ made }: SharedParts, index: number): Promise<ScriptedCall> {
  await until(() => made.length > index);
  return made[index] as ScriptedCall;
}

/** The way between processes without its secrets: whole answers only. */
function plainHop(self: Member, shared: SharedParts): Hop {
  const passed = (request: HttpRequest) => Number(request.headers["x-passed"] ?? 0);
  return {
    self,
    passed,
    async forward(request: HttpRequest, body: string, response: HttpResponse, to: Member) {
      const kept = ["content-type", "accept", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"];
      const headers = Object.fromEntries(
        kept.map((name) => [name, request.headers[name]]).filter(([, value]) => value),
      );
      const sent = { method: "POST", body, headers: { ...headers, "x-passed": String(passed(request) + 1) } };
      shared.hops++;
      try {
        const answer = await fetch(`http://${to.address}${request.url}`, sent);
        response.answer(answer.status, "Content-Type: application/json\r\n", await answer.text());
        return { type: "answered" };
      } catch {
        return { type: "lost", wasSent: false };
      }
    },
  };
}
