import { expect } from "vitest";
import type {
  AuditEvent,
  AuditTrail,
  Identity,
  Operation,
  OperationAnswer,
  Principal,
  TokenRow,
} from "../../src/contract/index.ts";
import { LiveAccess } from "../../src/mechanisms/access/access.ts";
import { LivePolicy } from "../../src/mechanisms/access/live-policy.ts";
import { MemoryPolicy } from "../../src/mechanisms/access/memory-policy.ts";
import { accessOperations, type OfferedPrimitive } from "../../src/mechanisms/access/operations/index.ts";
import { NO_POLICY } from "../../src/mechanisms/access/policy.ts";
import { accessRows, joinPolicy } from "../../src/mechanisms/access/stored-policy.ts";
import { ManualTime } from "./manual-time.ts";
import { KeptLog } from "./quiet.ts";

export const who = (user: string, more: Partial<Identity> = {}): Principal => ({
  id: user,
  identity: { tenant: "default", user, client: "c", groups: [], scopes: [], role: undefined, proof: "token", ...more },
});
export const ADMIN = who("ops", { role: "admin" });
export const ACME = who("acme-ops", { role: "admin", tenant: "acme" });

const PRIMITIVES: readonly OfferedPrimitive[] = [
  { server: "files", kind: "tool", name: "read", dotted: "files.read", shown: "files.read", title: "Read a file" },
  { server: "mail", kind: "tool", name: "send", dotted: "mail.send", shown: "mail.send" },
];

/** The operations over a policy in memory, with what they put on record. */
export class PolicyRig {
  readonly events: AuditEvent[] = [];
  readonly memory: MemoryPolicy;
  readonly time = new ManualTime();
  readonly policy: LivePolicy;
  readonly trail: AuditTrail = {
    note: (event) => void this.events.push(event),
    commit: async (event, changes) => {
      const isWritten = await this.memory.write(changes);
      if (isWritten) this.events.push(event);
      return isWritten;
    },
  };
  readonly access: LiveAccess;
  readonly operations: readonly Operation[];
  primitives = PRIMITIVES;
  tokens: readonly TokenRow[] = [];

  /** `memory`: of another process, which tells this one nothing. */
  constructor(memory = new MemoryPolicy()) {
    this.memory = memory;
    this.policy = new LivePolicy({ rows: memory, timers: this.time, log: new KeptLog() });
    const inForce = () => ({
      policy: joinPolicy(
        NO_POLICY,
        accessRows((kind) => this.policy.entries(kind)),
      ),
      version: String(this.policy.version),
      conceals: true,
    });
    const now = () => this.time.now();
    const dottedOf = ({ provider, name }: { provider: string; name: string }) => `${provider}.${name}`;
    this.access = new LiveAccess(
      { timers: this.time, now, dottedOf, onChange: () => undefined, onRefused: () => undefined },
      inForce(),
    );
    this.policy.onChange(() => this.access.use(inForce()));
    this.operations = accessOperations({
      access: this.access,
      policy: this.policy,
      trail: () => this.trail,
      now,
      dottedOf,
      targetOf: (dotted) => (dotted.startsWith("files.") ? { server: "files", name: dotted.slice(6) } : undefined),
      hasServer: (id) => ["files", "mail", "away"].includes(id),
      primitives: () => this.primitives,
      tokens: {
        list: async (limit, after = "", of) =>
          this.tokens.filter(({ id: own, tenant }) => own > after && (of ?? tenant) === tenant).slice(0, limit),
      },
    });
  }

  /** As the front does it: checked, then run. */
  async do(
    id: string,
    input: object,
    principal: Principal = ADMIN,
    ifMatch?: string,
  ): Promise<OperationAnswer<unknown>> {
    const found = this.operations.find((one) => one.id === id);
    if (!found) throw new Error(`no operation ${id}`);
    const checked = found.input.check(input);
    if ("problems" in checked) throw new Error(`invalid: ${JSON.stringify(checked.problems)}`);
    const answer = await found.run(checked.value as never, { principal, ...(ifMatch !== undefined && { ifMatch }) });
    if (answer.body !== undefined) expect(found.output?.check(answer.body)).not.toHaveProperty("problems");
    return answer;
  }

  async says(agent_id: string, server_id = "files", tool_name = "read", principal: Principal = ADMIN) {
    return (await this.do("access.query", { body: { agent_id, server_id, tool_name } }, principal)).body;
  }
}
