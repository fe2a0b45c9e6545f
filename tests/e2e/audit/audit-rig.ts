/** A gateway whose state folder outlives it, and the verbs over it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { ROOT, runProgram } from "../kit/program.ts";
import { openSession, post, type RpcMessage, toolCall } from "../kit/rpc.ts";

const SERVER = join(ROOT, "tests/e2e/config/echo-server.mjs");

export type AuditEvent = {
  readonly timestamp: string;
  readonly trace_id: string;
  readonly event_type: string;
  readonly actor: { readonly type: string; readonly id: string };
  readonly target: { readonly server_id: string; readonly tool_name: string };
  readonly result: string;
  readonly details: Readonly<Record<string, unknown>>;
};

export class AuditRig {
  readonly folder = mkdtempSync(join(tmpdir(), "isthmus-audit-e2e-"));
  readonly config: string;
  readonly env: Record<string, string>;
  #gateway: RunningGateway | undefined;

  /** `more` comes after the tables of the gateway and its server, `keys` are of the gateway's table. */
  constructor(more = "[audit]\n", env: Record<string, string> = {}, keys = "") {
    this.env = env;
    this.config = `
[gateway]
state = ${JSON.stringify(join(this.folder, "state"))}
${keys}

[[servers]]
id = "echo"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(SERVER)}, "secretive"]

${more}`;
    writeFileSync(join(this.folder, "isthmus.toml"), this.config);
  }

  get gateway(): RunningGateway {
    if (!this.#gateway) throw new Error("the gateway does not run");
    return this.#gateway;
  }

  async start(env: Record<string, string> = {}): Promise<RunningGateway> {
    this.#gateway = await startGateway({ config: this.config, env: { ...this.env, ...env } });
    return this.#gateway;
  }

  async call(name: string, args: object = {}, more: object = {}): Promise<RpcMessage | undefined> {
    const session = await openSession(this.gateway.url);
    const { params, ...rest } = toolCall(7, name, args);
    const { messages } = await post(this.gateway.url, { ...rest, params: { ...params, ...more } }, session);
    return messages.at(-1);
  }

  async events(query = ""): Promise<AuditEvent[]> {
    const response = await fetch(`${this.gateway.origin}/api/audit?${query}`, { signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    return ((await response.json()) as { events: AuditEvent[] }).events;
  }

  /** `isthmus audit …`, on the stores. */
  verb(...words: string[]) {
    return runProgram(["audit", ...words, "--config", join(this.folder, "isthmus.toml")], { env: this.env });
  }

  /** At the gateway that runs. */
  verbAt(...words: string[]) {
    return runProgram(["audit", ...words, "--url", this.gateway.origin], { env: this.env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gateway?.[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
