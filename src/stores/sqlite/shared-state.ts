import type { Channel, Clock, Counters, Logs, SharedState } from "../../contract/index.ts";
import type { SqliteConnection } from "./connection.ts";
import { migrate } from "./migrate.ts";
import { SqliteCalls } from "./shared-calls.ts";
import { SqliteEntries } from "./shared-entries.ts";
import { SqliteLogs } from "./shared-logs.ts";
import { SqliteMembers } from "./shared-members.ts";
import { SHARED_SCHEMA } from "./shared-schema.ts";
import { SharedSweep } from "./shared-sweep.ts";

export type SqliteSharedStateOptions = {
  readonly connection: SqliteConnection;
  /** For leases. */
  readonly clock: Clock;
  /** For what must end at its time even when the process was down meanwhile: everybody's time, in ms. */
  readonly now?: () => number;
  /** What need not outlive the process: in memory. */
  readonly fleeting: {
    readonly logs: Logs;
    readonly channel: Channel;
    countersFor(isAlive: (member: string) => boolean): Counters;
  };
};

/** Shared state of a gateway that runs alone. The connection is its maker's to close, after this. */
export function createSqliteSharedState(options: SqliteSharedStateOptions): SharedState {
  const { connection, clock, fleeting, now = Date.now } = options;
  const { database, commits } = connection;
  migrate(database, "shared", SHARED_SCHEMA);
  const members = new SqliteMembers(clock);
  const counters = fleeting.countersFor((member) => members.alive(member) !== undefined);
  const parts = { database, commits, members, now };
  commits.gather(new SharedSweep(database, now));
  return {
    members,
    entries: new SqliteEntries(parts),
    logs: new SqliteLogs({ database, commits, now, fleeting: fleeting.logs }),
    channel: fleeting.channel,
    calls: new SqliteCalls({ ...parts, counters }),
    get isUp() {
      return commits.isUp;
    },
    onHealth: (listener) => commits.onHealth(listener),
    close: async () => {
      // A call that began in one group is written with the next.
      for (let groups = 0; groups < 2; groups++) await commits.end.catch(() => undefined);
    },
  };
}
