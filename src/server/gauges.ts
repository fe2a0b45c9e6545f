import type { ByteBudget } from "../contract/index.ts";
import type { Kernel } from "../kernel/index.ts";
import type { Metrics } from "./metrics.ts";
import type { GatewayState } from "./state/index.ts";

export type GaugedParts = {
  readonly budget: Pick<ByteBudget, "held">;
  readonly kernel: Pick<Kernel, "stats" | "ready">;
  readonly state: GatewayState | undefined;
  readonly sessions: { readonly size: number };
  readonly pins: { readonly pendingCount: number };
  readonly isStale: () => boolean;
  readonly members: () => number;
};

/** What of a gateway can be read at any moment. */
export function addGauges(
  metrics: Metrics,
  { kernel, budget, state, sessions, pins, isStale, members }: GaugedParts,
): void {
  metrics.gauge("isthmus_shared_state_up", () => (state?.shared.isUp === false ? 0 : 1));
  metrics.gauge("isthmus_database_up", () => (state?.records.isUp === false ? 0 : 1));
  metrics.gauge("isthmus_bytes_in_flight", () => budget.held);
  metrics.gauge("isthmus_runs_open", () => kernel.stats().open);
  metrics.gauge("isthmus_runs_kept", () => kernel.stats().kept);
  metrics.gauge("isthmus_config_stale", () => (isStale() ? 1 : 0));
  metrics.gauge("isthmus_pins_pending", () => pins.pendingCount);
  metrics.gauge("isthmus_members", members);
  metrics.gauge("isthmus_sessions", () => sessions.size);
  metrics.gauge("isthmus_upstream_sessions", () => kernel.stats().upstreams);
  metrics.serverGauge("isthmus_server_up", () =>
    Object.fromEntries(Object.entries(kernel.ready().servers).map(([id, status]) => [id, status === "ok" ? 1 : 0])),
  );
}
