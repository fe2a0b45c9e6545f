/** A gateway before a valve that must not be opened without somebody's yes, and a key that says it. */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type RunningGateway, startGateway } from "../kit/gateway.ts";
import { runProgram } from "../kit/program.ts";
import { post, type RpcMessage } from "../kit/rpc.ts";

const SERVER = fileURLToPath(new URL("./valve-server.mjs", import.meta.url));
const META = "io.modelcontextprotocol/";

export type GateObject = {
  readonly confirmation_id: string;
  readonly nonce: string;
  readonly tool: string;
  readonly args_sha256: string;
  readonly gate_aggregator_id: string;
} & Readonly<Record<string, unknown>>;

export type Proof = { readonly type: string; readonly format: string; readonly value: string };

export type Forged = {
  readonly claims?: object;
  readonly header?: object;
  readonly key?: KeyObject;
  readonly type?: string;
};

type RigOptions = {
  /** Lines of `[gateway]`. */
  readonly gateway?: string;
  /** Lines of `[gate]`. */
  readonly gate?: string;
  /** Lines of the server's table. */
  readonly server?: string;
  /** Further tables. */
  readonly more?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Who has one, and the words it is made with. */
  readonly tokens?: Readonly<Record<string, string>>;
};

export class ValveRig {
  readonly folder = mkdtempSync(join(tmpdir(), "isthmus-valve-"));
  readonly journal = join(this.folder, "journal");
  readonly #pair = generateKeyPairSync("ed25519");
  readonly #options: RigOptions;
  readonly tokens: Record<string, string> = {};
  gateway!: RunningGateway;

  private constructor(options: RigOptions) {
    this.#options = options;
  }

  static async start(options: RigOptions = {}): Promise<ValveRig> {
    const rig = new ValveRig(options);
    for (const [who, words] of Object.entries(options.tokens ?? {})) {
      const { stdout, stderr } = await runProgram(["token", "create", ...words.split(" ")], { config: rig.config() });
      if (stdout === "") throw new Error(stderr);
      rig.tokens[who] = stdout.trim();
    }
    await rig.startAgain();
    return rig;
  }

  /** With the same key and the same store. */
  async startAgain(env: Readonly<Record<string, string>> = {}): Promise<void> {
    this.gateway = await startGateway({ config: this.config(), env: { ...this.#options.env, ...env } });
  }

  config(): string {
    const { gate = 'hold = "100ms"', server = "", more = "", gateway = "" } = this.#options;
    const args = [SERVER, this.journal].map((text) => JSON.stringify(text)).join(", ");
    const anchor = this.#pair.publicKey.export({ format: "pem", type: "spki" }).toString();
    return `[gateway]
state = ${JSON.stringify(join(this.folder, "state"))}
${gateway}
[gate]
${gate}
[[gate.anchors]]
key = ${JSON.stringify(anchor)}
[[servers]]
id = "plant"
command = ${JSON.stringify(process.execPath)}
args = [${args}]
${server}
${more}`;
  }

  get url(): string {
    return this.gateway.url;
  }

  /** What the server was really told to do. */
  made(): string[] {
    return existsSync(this.journal) ? readFileSync(this.journal, "utf8").trim().split("\n").filter(Boolean) : [];
  }

  /** A call of a client without a session. */
  async call(
    name: string,
    args: object,
    more: { path?: string; headers?: Record<string, string>; meta?: object } = {},
  ) {
    const params = { name, arguments: args, ...(more.meta && { _meta: more.meta }) };
    return await this.rpc({ id: 1, method: "tools/call", params }, more);
  }

  /** A request of the 2026 era. */
  async modern(
    method: string,
    params: object,
    more: { name?: string; capabilities?: object; headers?: Record<string, string> } = {},
  ): Promise<RpcMessage> {
    const _meta = {
      [`${META}protocolVersion`]: "2026-07-28",
      [`${META}clientInfo`]: { name: "e2e", version: "1" },
      [`${META}clientCapabilities`]: more.capabilities ?? {},
    };
    const named = more.name === undefined ? undefined : { "mcp-name": more.name };
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...named, ...more.headers };
    return await this.rpc({ id: 1, method, params: { ...params, _meta } }, { headers });
  }

  async modernCall(
    name: string,
    args: object,
    more: { capabilities?: object; params?: object; headers?: Record<string, string> } = {},
  ): Promise<RpcMessage> {
    return await this.modern("tools/call", { name, arguments: args, ...more.params }, { ...more, name });
  }

  async rpc(message: object, more: { path?: string; headers?: Record<string, string> } = {}): Promise<RpcMessage> {
    const { messages } = await post(new URL(more.path ?? "/mcp", this.url).href, message, more.headers);
    return messages.at(-1) ?? {};
  }

  /** Signed by the key that the gateway trusts, unless it is forged. */
  proof(gate: GateObject, decision = "approve", forged: Forged = {}): Proof {
    const iat = Math.floor(Date.now() / 1000);
    const claims = {
      sub: "operator:alice",
      aud: `urn:uuid:${gate.gate_aggregator_id}`,
      jti: randomUUID(),
      iat,
      exp: iat + 300,
      confirmation_id: gate.confirmation_id,
      nonce: gate.nonce,
      tool: gate.tool,
      args_sha256: gate.args_sha256,
      decision,
      ...forged.claims,
    };
    const header = { alg: "EdDSA", typ: "mcpax-proof+jwt", ...forged.header };
    const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const signature = sign(null, Buffer.from(text), forged.key ?? this.#pair.privateKey).toString("base64url");
    return { type: forged.type ?? "operator_signature", format: "jws", value: `${text}.${signature}` };
  }

  /** The private key as its owner would keep it in a file. */
  get keyText(): string {
    return this.#pair.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  }

  async confirm(gate: GateObject, decision = "approve", forged?: Forged): Promise<RpcMessage> {
    const proof = this.proof(gate, decision, forged);
    return await this.confirmWith({ confirmation_id: gate.confirmation_id, decision, proof });
  }

  async confirmWith(params: object): Promise<RpcMessage> {
    return await this.rpc({ id: 8, method: "mcpax/confirm", params }, { path: "/mcpax/confirm" });
  }

  /** The header of somebody who has a token. */
  as(who: string): { headers: Record<string, string> } {
    return { headers: { authorization: `Bearer ${this.tokens[who]}` } };
  }

  /** What waits, newest first, as operators are shown it. */
  async waiting(state = "waiting"): Promise<readonly GateObject[]> {
    const response = await fetch(new URL(`/api/approvals?state=${state}`, this.url));
    return ((await response.json()) as { approvals: GateObject[] }).approvals;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.gateway[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a caller was told that must come back. */
export function gateOf(answer: RpcMessage): GateObject {
  const gate = (answer.result?._meta as Record<string, unknown> | undefined)?.["x-mcpax-gate"];
  if (typeof gate !== "object" || gate === null) throw new Error(`no gate in ${JSON.stringify(answer)}`);
  return gate as GateObject;
}
