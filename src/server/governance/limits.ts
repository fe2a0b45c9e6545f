/** Limits, made of `[[limits]]` and of what operators have set: where they are counted, and what stands in the pipelines. */
import type { AuditTrail, HeldCharges, IsHeld, Operation, Principal, SharedState } from "../../contract/index.ts";
import type { StageFactory } from "../../kernel/index.ts";
import type { LivePolicy, NameUse } from "../../mechanisms/access/index.ts";
import type { AccessOperationParts } from "../../mechanisms/access/operations/parts.ts";
import {
  HeldChargeBook,
  type Limitable,
  LimitBook,
  type LimitEntry,
  LocalShare,
  SharedDesk,
  TenantLimits,
} from "../../mechanisms/limits/index.ts";
import { type LedgerLimits, limitStages } from "../../stages/index.ts";
import { MemoryCounters } from "../../stores/memory/index.ts";
import type { Config } from "../config/index.ts";
import type { Ports } from "../extensions.ts";
import type { GatewayState } from "../state/index.ts";
import { dottedName } from "./dotted-name.ts";
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
  /** Knows what there is to limit. */
  readonly accessParts: () => AccessOperationParts;
  /** Which limits there are has changed. */
  readonly onChange: () => void;
};

export type GovernedLimits = {
  /** Where this process counts alone; elsewhere it is never in a pipeline. */
  readonly stage: StageFactory;
  /** What the ledger takes with its trips, where all processes count together. */
  readonly ledger?: LedgerLimits;
  readonly held: HeldCharges;
  /** The names that limits are for. */
  uses(): readonly NameUse[];
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
  const book = new LimitBook((target) => dottedName(config, target));
  const tenants = new TenantLimits(log);
  const held = new HeldChargeBook();
  const member = ports.member ?? (() => "");
  const isAlone = state?.clusterKey === undefined;
  const planOf = (entry: Limitable) => book.planOf(entry);
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

  let entries: readonly LimitEntry[] = config.limits;

  function refresh(): void {
    entries = [...config.limits, ...tenants.read(policy.entries("limit"))];
    book.replace(entries);
    ports.onChange();
  }

  const stopHearing = policy.onChange(refresh);
  book.replace(entries);
  const stage: StageFactory = shared ? () => undefined : limitStages({ ...parts, counters: countersHere(), member });
  return {
    stage,
    ...(shared && { ledger: { ...parts, desk: shared.desk } }),
    held,
    uses: () => entries.map(({ selector: { server, primitive: name = "" } }) => ({ server, name })),
    members: () => shared?.count.last ?? 1,
    async operations() {
      const { limitOperations } = await import("../../mechanisms/limits/limit-operations.ts");
      const { requireKnownName } = await import("../../mechanisms/access/operations/index.ts");
      const requireName = (by: Principal, use: NameUse) => requireKnownName(ports.accessParts(), by, use);
      return limitOperations({ policy, trail: ports.trail, now: Date.now, requireName });
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
