/** Calls before a gate: a kernel whose one tool waits for approvals over memory, on a clock that stands still. */
import {
  type Approval,
  type Call,
  type CallEvent,
  type CallOrder,
  type Evidence,
  type GatewayError,
  payload,
  type Reader,
  type Run,
  type Target,
} from "../../src/contract/index.ts";
import type { FindOffered, Gate, GateFacts } from "../../src/mechanisms/approvals/index.ts";
import { approveStage } from "../../src/stages/index.ts";
import { ApprovalRig, person } from "./approval-rig.ts";
import { ScriptedProvider } from "./scripted-provider.ts";
import { type TestKernel, testKernel } from "./test-kernel.ts";

export class Seen implements Reader {
  readonly keeps = false;
  readonly events: CallEvent[] = [];

  take(event: CallEvent): boolean {
    this.events.push(event);
    return true;
  }

  of<Type extends CallEvent["type"]>(type: Type): (CallEvent & { type: Type })[] {
    return this.events.filter((event): event is CallEvent & { type: Type } => event.type === type);
  }

  get error() {
    return this.of("error")[0]?.error;
  }
}

export const settle = () => new Promise(setImmediate);

export class HeldRig {
  readonly rig = new ApprovalRig();
  readonly provider = new ScriptedProvider("plant", ["open"]);
  kernel!: TestKernel;
  /** Where people decide; unset: nowhere. */
  pages: string | undefined;
  /** Nobody reaches the gateway but its one client. */
  isAlone = false;
  proofTypes: GateFacts["proofTypes"] = ["operator_signature"];
  asksForVisits = true;
  /** Which keys count, and where the server is. */
  grounds = "1";
  /** What access says now of a call that it has let in. */
  refusal: (call: Call) => GatewayError | undefined = () => undefined;

  /** `evidence`: what the tool's own gate needs; unset: it has none. */
  static async make(evidence?: Evidence, more: { readonly isTraced?: boolean } = {}): Promise<HeldRig> {
    const held = new HeldRig();
    const gate: Gate | undefined = evidence && {
      reason: "irreversible_mutable",
      evidence,
      capability: '{"mutable":true}',
    };
    const stage = approveStage({ ...held.options, ...more }, gate && "plant.open", gate);
    const { time } = held.rig;
    held.kernel = await testKernel([held.provider], {
      stages: [() => stage],
      clock: time,
      timers: time,
      timeoutMs: 10_000,
    });
    held.rig.offered = (target, session) => held.kernel.kernel.find(target, session);
    return held;
  }

  get options() {
    const { approvals, decider, watch, time, rows } = this.rig;
    const now = () => time.now();
    const facts = async () => ({
      gateway: await rows.gateway(),
      proofTypes: this.proofTypes,
      now: now(),
      pages: this.pages,
      isAlone: this.isAlone,
    });
    const asksForVisits = () => this.asksForVisits;
    const refusal = (call: Call) => this.refusal(call);
    const offered: FindOffered = (target, session) => this.rig.offered(target, session);
    const dottedOf = ({ provider, name }: Target) => `${provider}.${name}`;
    const groundsOf = () => this.grounds;
    const settings = { holdMs: () => 45_000, asksForVisits, facts, refusal, offered, groundsOf, dottedOf };
    return { approvals, decider, watch, clock: time, timers: time, now, ...settings };
  }

  start(args: string, more: Partial<CallOrder> = {}): { seen: Seen; run: Run } {
    const seen = new Seen();
    const input = payload(`{"name":"open","arguments":${args}}`);
    const order: CallOrder = { ...this.kernel.order("plant.open"), principal: person("agent"), input, ...more };
    return { seen, run: this.kernel.kernel.runs.start(order, seen) };
  }

  /** What reached the server. */
  get made() {
    return [...this.provider.calls.values()];
  }

  async waiting(): Promise<Approval> {
    await settle();
    const [newest] = await this.rig.rows.list({ state: "waiting", limit: 1 });
    const found = newest && (await this.rig.rows.get(newest.id));
    if (!found) throw new Error("nothing waits");
    return found;
  }

  async approve(approval: Approval) {
    const proof = { type: "operator_signature", format: "jws", value: await this.rig.proof(approval) };
    const answer = await this.rig.decider.confirm(person("relay"), { id: approval.id, decision: "approve", proof });
    await settle();
    return answer;
  }
}
