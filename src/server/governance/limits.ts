/** Limits, made of `[[limits]]` and of what operators have set: where they are counted, and what stands in the pipelines. */
import type { AuditTrail, HeldCharges, IsHeld, Operation, SharedState, Target } from "../../contract/index.ts";
import type { StageFactory } from "../../kernel/index.ts";
import type { LivePolicy } from "../../mechanisms/access/index.ts";
import { HeldChargeBook, LimitBook, LocalShare, SharedDesk, TenantLimits } from "../../mechanisms/limits/index.ts";
import { type LedgerLimits, limitStages } from "../../stages/index.ts";
import { MemoryCounters } from "../../stores/memory/index.ts";
import type { Config } from "../config/index.ts";
import type { Ports } from "../extensions.ts";
import type { GatewayState } from "../state/index.ts";
import { LiveMemberCount } from "./live-member-count.ts";

export type LimitPorts = Ports & {
  readonly config: Config;
  readonly state?: GatewayState | undefined;
  /** How this process is known to the others; unset: it is alone. */
  readonly member?: (() => string) | undefined;
  /** What operators have set. */
  readonly policy: LivePolicy;
  readonly trail: () => AuditTrail;
  /** Whether a call waits for somebody's yes; unset: none does. */
  readonly isHeld?: IsHeld | undefined;
  /** Which limits there are has changed. */
  readonly onChange: () => void;
};

export type GovernedLimits = {
  /** Where this process counts alone; elsewhere it is never in a pipeline. */
  readonly stage: StageFactory;
  /** What the ledger takes with its trips, where all processes count together. */
  readonly ledger?: LedgerLimits;
  readonly held: HeldCharges;
  /** How many processes there are, as far as anybody needed to know. */
  members(): number;
  operations(): Promise<readonly Operation[]>;
  apply(config: Config): void;
  open(): Promise<void>;
  close(): Promise<void>;
};

export function createLimits(ports: LimitPorts): GovernedLimits {
  const { clock, timers, log, policy, state, isHeld } = ports;
  let { config } = ports;
  const book = new LimitBook((target) => dottedOf(target, config));
  const tenants = new TenantLimits(log);
  const held = new HeldChargeBook();
  const member = ports.member ?? (() => "");
  const isAlone = state?.clusterKey === undefined;
  const planOf = (target: Target) => book.planOf(target);
  const parts = { planOf, held, isHeld };
  const shared = isAlone ? undefined : shareLimits(state.shared);

  function shareLimits(store: SharedState) {
    const counters = new MemoryCounters({ clock, isAlive: () => true });
    const count = new LiveMemberCount({ members: store.members, timers, isWanted: () => !book.isEmpty });
    return { count, desk: new SharedDesk(store, new LocalShare(counters, () => count.last), clock) };
  }

  function countersHere() {
    return state?.shared.calls.counters ?? new MemoryCounters({ clock, isAlive: () => true });
  }

  function refresh(): void {
    book.replace([...config.limits, ...tenants.read(policy.entries("limit"))]);
    ports.onChange();
  }

  const stopHearing = policy.onChange(refresh);
  book.replace(config.limits);
  const stage: StageFactory = shared ? () => undefined : limitStages({ ...parts, counters: countersHere(), member });
  return {
    stage,
    ...(shared && { ledger: { ...parts, desk: shared.desk } }),
    held,
    members: () => shared?.count.last ?? 1,
    async operations() {
      const { limitOperations } = await import("../../mechanisms/limits/limit-operations.ts");
      return limitOperations({ policy, trail: ports.trail, now: Date.now });
    },
    apply(next) {
      config = next;
      refresh();
    },
    async open() {
      tenants.requireAll();
      shared?.count.open();
    },
    async close() {
      stopHearing();
      shared?.count.close();
      shared?.desk.close();
    },
  };
}

/** How a primitive is called in the list of everything. */
function dottedOf({ provider, name }: Target, { servers }: Config): string {
  const segment = servers.find(({ id }) => id === provider)?.segment ?? provider;
  return segment === "" ? name : `${segment}.${name}`;
}
