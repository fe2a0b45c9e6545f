/** Opens the stores that a config names. Everything about them is loaded here, when it is wanted: a start without stores pays nothing. */
import type { Clock, Log, Records, SharedState } from "../../contract/index.ts";
import { isTaken } from "../../stores/sqlite/sqlite-errors.ts";
import { systemClock } from "../clock.ts";
import { keepsNothing, type StateConfig } from "../config/index.ts";
import { TimerWheel } from "../timers.ts";

export type GatewayState = {
  readonly shared: SharedState;
  readonly records: Records;
  /** What the processes of this gateway have in common and nobody else; unset: this one is alone with its stores. */
  readonly clusterKey?: string;
  close(): Promise<void>;
};

/** A store cannot be used; the message names it and says what to do. Never holds a password. */
export class StateFault extends Error {
  override readonly name = "StateFault";

  /** Another gateway has the store. */
  get isTaken(): boolean {
    return isTaken(this.cause);
  }
}

type Ports = { readonly clock: Clock; readonly timers: TimerWheel; readonly log: Log };

/** Undefined: this gateway remembers nothing beyond its own end. Rejects with StateFault. */
export async function openState(config: StateConfig, log: Log): Promise<GatewayState | undefined> {
  if (keepsNothing(config)) return undefined;
  const timers = new TimerWheel({ clock: systemClock, onError: (cause) => log.error("timer failed", { cause }) });
  return await openStores(config, { clock: systemClock, timers, log });
}

async function openStores(config: StateConfig, ports: Ports): Promise<GatewayState> {
  const { database, shared } = config;
  const closing: (() => Promise<void>)[] = [async () => ports.timers.close()];
  const close = async () => {
    for (const one of closing.splice(0).reverse()) await one();
  };
  try {
    const opened = database.kind === "sqlite" ? await openEmbedded(database.file, ports) : undefined;
    if (opened) closing.push(opened.close);
    const records = opened?.records ?? (await openTables(config, ports));
    if (!opened) closing.push(() => records.close());
    const state = await openShared(config, ports, opened?.shared);
    closing.push(() => state.close());
    if (shared.kind !== "redis") return { shared: state, records, close };
    const { agreeOnKey } = await import("../hop/index.ts");
    const clusterKey = config.cluster.key?.reveal() ?? (await agreeOnKey(state.entries));
    return { shared: state, records, clusterKey, close };
  } catch (error) {
    await close();
    throw new StateFault((error as Error).message, { cause: error });
  }
}

type Embedded = { readonly shared: SharedState; readonly records: Records; readonly close: () => Promise<void> };

async function openEmbedded(file: string, { clock }: Ports): Promise<Embedded> {
  const { openSqlite } = await import("../../stores/sqlite/connection.ts");
  const { createSqliteSharedState } = await import("../../stores/sqlite/shared-state.ts");
  const { openSqliteRecords } = await import("../../stores/sqlite/records.ts");
  const { createMemorySharedState } = await import("../../stores/memory/index.ts");
  const connection = await openSqlite(file);
  try {
    const shared = createSqliteSharedState({ connection, clock, fleeting: createMemorySharedState({ clock }) });
    return { shared, records: await openSqliteRecords({ connection }), close: async () => connection.close() };
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function openTables({ database }: StateConfig, { timers, log }: Ports): Promise<Records> {
  if (database.kind !== "postgres") throw new Error("the database keeps no tables");
  const { openPostgres } = await import("../../stores/postgres/index.ts");
  const { records } = await openPostgres({ url: database.url.reveal(), timers, log });
  return records;
}

async function openShared(
  { shared }: StateConfig,
  { clock, log }: Ports,
  embedded: SharedState | undefined,
): Promise<SharedState> {
  if (shared.kind === "redis") {
    const { openRedisSharedState } = await import("../../stores/redis/index.ts");
    const state = await openRedisSharedState({ url: shared.url.reveal(), log });
    for (const note of await state.checkDurability(shared.isVolatile)) log.warn("shared state", { note });
    return state;
  }
  if (embedded) return embedded;
  const { createMemorySharedState } = await import("../../stores/memory/index.ts");
  return createMemorySharedState({ clock });
}
