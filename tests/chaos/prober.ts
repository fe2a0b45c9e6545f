/** Asks one gateway for one thing of each kind, and says whether it was served or refused as it should be. */
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Caller, Exchanger, type Got } from "./clients/exchange.ts";
import { sendModern } from "./clients/modern-request.ts";
import type { Effect, PlainProbe } from "./outages.ts";

const LEGACY = "2025-11-25";
const PREPARING_MS = 40_000;

export class Prober {
  readonly #exchanger: Exchanger;
  readonly #elsewhere: Exchanger;
  #session = "";
  #task = "";

  /** `elsewhere`: another gateway of the same ones. */
  constructor(origin: string, elsewhere: string, caller?: Caller) {
    this.#exchanger = new Exchanger(`${origin}/mcp`, caller);
    this.#elsewhere = new Exchanger(`${elsewhere}/mcp`, caller);
  }

  /** While everything is well: a session and a task to ask about. The outage before may still be felt for a moment. */
  async prepare(): Promise<void> {
    const until = performance.now() + PREPARING_MS;
    for (;;) {
      const got = await this.#legacy("initialize", initialize());
      const slow = { name: "modern.slow", arguments: { mark: randomUUID(), ms: 2_500 } };
      const task = await this.#modern("tools/call", slow, true);
      this.#session = String(got.headers["mcp-session-id"]);
      this.#task = /"taskId":"([^"]+)"/.exec(task.text)?.[1] ?? "";
      if (got.status === 200 && this.#task !== "") return;
      if (performance.now() > until) throw new Error(`the probes could not be prepared: ${got.status} ${task.text}`);
      await wait(200);
    }
  }

  async probe(probe: PlainProbe): Promise<Effect | string> {
    return await effectOf(() => this.#ask(probe));
  }

  #ask(probe: PlainProbe): Promise<Got> {
    const echo = { name: "legacy.echo", arguments: { mark: randomUUID() } };
    switch (probe) {
      case "new session":
        return this.#legacy("initialize", initialize());
      case "call in a session":
        return this.#legacy("tools/call", echo, this.#session);
      case "call without a session":
        return this.#modern("tools/call", { ...echo, name: "modern.echo" });
      case "call with a key":
        return this.#modern("tools/call", { ...echo, name: "modern.echo" }, false, randomUUID());
      case "call under a rate or a number of places":
        return this.#modern("tools/call", { ...echo, name: "rated.echo" });
      case "call under a budget":
        return this.#modern("tools/call", { ...echo, name: "budgeted.echo" });
      case "slow call that may be a task":
        return this.#modern("tools/call", { name: "modern.slow", arguments: { mark: randomUUID(), ms: 2_500 } }, true);
      case "poll of a task at its home":
        return this.#modern("tasks/get", { taskId: this.#task }, true);
      case "poll of an ended task elsewhere":
        return this.#modern("tasks/get", { taskId: this.#task }, true, undefined, this.#elsewhere);
    }
  }

  #legacy(method: string, params: object, session?: string): Promise<Got> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": LEGACY,
      ...(session !== undefined && { "mcp-session-id": session }),
    };
    return this.#exchanger.send({
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  }

  #modern(
    method: string,
    params: { name?: string; taskId?: string; arguments?: object },
    hasTasks = false,
    key?: string,
    at = this.#exchanger,
  ): Promise<Got> {
    return sendModern(at, { id: 1, method, params, name: "prober", key, hasTasks });
  }

  async close(): Promise<void> {
    if (this.#session !== "") {
      const headers = { "mcp-protocol-version": LEGACY, "mcp-session-id": this.#session };
      await this.#exchanger.send({ method: "DELETE", headers });
    }
    this.#exchanger.close();
    this.#elsewhere.close();
  }
}

function initialize(): object {
  return { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: "prober", version: "1.0.0" } };
}

/** What has become of a request. Anything but served, refused or denied is told as it was. */
export async function effectOf(ask: () => Promise<Got>): Promise<Effect | string> {
  const started = Date.now();
  const { status, headers, text } = await ask();
  if (Date.now() - started > 10_000) return "kept waiting";
  if (status === 503 && headers["retry-after"] !== undefined) return "refused";
  if (text.includes('"STATE_UNAVAILABLE"') || text.includes('"NOT_READY"')) return "refused";
  if (status === 401 || text.includes('"NOT_ALLOWED"') || text.includes('"code":-32602')) return "denied";
  if (status < 300 && status > 0 && !text.includes('"error"') && !text.includes('"isError":true')) return "served";
  return `${status} ${text.slice(0, 200)}`;
}
