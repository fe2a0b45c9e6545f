/** Approvals over memory on a clock that stands still, with keys to sign with and a trail that keeps what it is told. */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto";
import {
  type Approval,
  type AuditEvent,
  type AuditTrail,
  type Change,
  type Evidence,
  type Identity,
  type Principal,
  payload,
  type TokenRow,
  type TokenRows,
} from "../../src/contract/index.ts";
import {
  type AnchorConfig,
  Anchors,
  Approvals,
  ApprovalWatch,
  Decider,
  type FindOffered,
} from "../../src/mechanisms/approvals/index.ts";
import { MemoryApprovals } from "../../src/stores/memory/index.ts";
import { ManualTime } from "./manual-time.ts";
import { KeptLog, KeptMeter } from "./quiet.ts";

export type Signer = { readonly key: KeyObject; readonly anchor: string; readonly alg: "EdDSA" | "ES256" };

export function ed25519(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  return { key: privateKey, anchor: pem(publicKey), alg: "EdDSA" };
}

export function p256(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { key: privateKey, anchor: pem(publicKey), alg: "ES256" };
}

function pem(key: KeyObject): string {
  return key.export({ format: "pem", type: "spki" }).toString();
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

export type Forging = {
  readonly header?: object;
  readonly claims?: object;
  /** Members that are left out. */
  readonly without?: readonly string[];
  readonly signer?: Signer;
  /** What is put in the place of the signature. */
  readonly signature?: string;
};

export function person(id: string, more: Partial<Identity> = {}): Principal {
  const identity: Identity = {
    tenant: "default",
    user: id,
    client: `client-${id}`,
    groups: [],
    scopes: [],
    role: undefined,
    proof: "token",
    ...more,
  };
  return { id, identity };
}

/** Remembers each event, in order; what it commits is written to the rows. */
class KeptTrail implements AuditTrail {
  readonly events: AuditEvent[] = [];
  readonly #write: (changes: readonly Change[]) => Promise<boolean>;

  constructor(write: (changes: readonly Change[]) => Promise<boolean>) {
    this.#write = write;
  }

  note(event: AuditEvent): void {
    this.events.push(event);
  }

  async commit(event: AuditEvent, changes: readonly Change[]): Promise<boolean> {
    const isWritten = await this.#write(changes);
    if (isWritten) this.events.push(event);
    return isWritten;
  }

  types(): string[] {
    return this.events.map(({ type }) => type);
  }
}

export class ApprovalRig {
  readonly time = new ManualTime();
  readonly operator = ed25519();
  readonly engine = p256();
  readonly rows = new MemoryApprovals();
  readonly meter = new KeptMeter();
  readonly trail = new KeptTrail((changes) => this.rows.write(changes));
  readonly watch = new ApprovalWatch({ rows: this.rows, timers: this.time, log: new KeptLog() });
  policyVersion = "1";
  denialMs = 300_000;
  isRevoked: (principal: Principal) => boolean = () => false;
  /** All that are asked for are there, and good. */
  findToken: TokenRows["find"] = async (hash) => ({ hash }) as TokenRow;
  offered: FindOffered = () => undefined;
  anchors: readonly AnchorConfig[] = [
    { type: "operator_signature", key: this.operator.anchor, holders: [], tenants: [] },
    { type: "policy_nonce", key: this.engine.anchor, issuer: "https://policy.example", holders: [], tenants: [] },
  ];
  readonly approvals = new Approvals({
    rows: this.rows,
    trail: this.trail,
    watch: this.watch,
    timers: this.time,
    log: new KeptLog(),
    meter: this.meter,
    now: () => this.time.now(),
    policyVersion: () => this.policyVersion,
    ttlMs: () => 300_000,
    denialMs: () => this.denialMs,
    isRevoked: (principal) => this.isRevoked(principal),
    tokens: { find: (hash) => this.findToken(hash) },
  });
  readonly decider = new Decider({
    approvals: this.approvals,
    watch: this.watch,
    trail: this.trail,
    meter: this.meter,
    anchors: () => new Anchors({ anchors: this.anchors, log: new KeptLog(), read: () => undefined }),
    gateway: () => this.rows.gateway(),
    offered: (target, session) => this.offered(target, session),
    now: () => this.time.now(),
  });

  request(
    args: string,
    more: {
      principal?: Principal;
      evidence?: Evidence;
      name?: string;
      tool?: string;
      calledAs?: string;
      requester?: string;
    } = {},
  ): Promise<Approval> {
    const name = more.name ?? "open";
    return this.approvals.request({
      principal: more.principal ?? person("agent"),
      target: { provider: "plant", kind: "tool", name },
      tool: more.tool ?? `plant.${name}`,
      calledAs: more.calledAs,
      requester: more.requester,
      input: payload(`{"name":"${name}","arguments":${args}}`),
      gate: { reason: "irreversible_mutable", evidence: more.evidence ?? "external_proof", capability: "{}" },
      definition: "",
    });
  }

  async claims(approval: Approval, decision = "approve"): Promise<Record<string, unknown>> {
    const iat = Math.floor(this.time.now() / 1000) || 1;
    return {
      iss: "https://approvals.example",
      sub: "operator:alice",
      aud: `urn:uuid:${await this.rows.gateway()}`,
      jti: randomUUID(),
      iat,
      exp: iat + 300,
      confirmation_id: approval.id,
      nonce: approval.nonce,
      tool: approval.tool,
      args_sha256: approval.digest,
      decision,
    };
  }

  /** A proof that is right but for what is forged. */
  async proof(approval: Approval, forging: Forging = {}, decision = "approve"): Promise<string> {
    const { signer = this.operator, without = [] } = forging;
    const header = { alg: signer.alg, typ: "mcpax-proof+jwt", ...forging.header };
    const claims = { ...(await this.claims(approval, decision)), ...forging.claims };
    const kept = Object.fromEntries(Object.entries(claims).filter(([name]) => !without.includes(name)));
    const text = `${part(header)}.${part(kept)}`;
    return `${text}.${forging.signature ?? signed(text, signer)}`;
  }
}

export function signed(text: string, { alg, key }: Signer): string {
  const data = Buffer.from(text);
  const bytes = alg === "EdDSA" ? sign(null, data, key) : sign("sha256", data, { key, dsaEncoding: "ieee-p1363" });
  return bytes.toString("base64url");
}
