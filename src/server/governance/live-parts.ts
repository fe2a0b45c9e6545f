import type { Channel, Entry, Principal, Run } from "../../contract/index.ts";
import type { FindOffered } from "../../mechanisms/approvals/index.ts";
import type { SessionRegistry } from "../../mechanisms/sessions/index.ts";
import type { RecentCalls } from "../../stages/index.ts";
import type { Config, ConfigSource } from "../config/index.ts";
import type { ServerSummary } from "../gateway-types.ts";
import type { RecentLines } from "../recent-lines.ts";

/** What lives in this process, as far as operators look at it and end it. */
export type LiveParts = {
  readonly sessions: Pick<SessionRegistry, "list" | "endWhere" | "finish">;
  readonly recent: Pick<RecentCalls, "list" | "find">;
  readonly runs: () => readonly Run[];
  readonly servers: () => readonly ServerSummary[];
  /** Every primitive that is offered now. */
  readonly offered: () => readonly Entry[];
  /** What a server says now of something that it offers, to this session or to everybody. */
  readonly find: FindOffered;
  readonly config: () => Config;
  /** What was logged last. */
  readonly lines: RecentLines;
  /** Where the config comes from, and how to take it over again; undefined: it never changes. */
  readonly following: () => { readonly source: ConfigSource; reload(): Promise<void>; isStale(): boolean } | undefined;
  /** How this process is known to the others; "" where there are none. */
  readonly member: () => string;
  /** Where the others hear; undefined: there are none. */
  readonly channel?: Channel | undefined;
  /** Ends the streams that these callers have opened, and that belong to no call. */
  readonly dropStreams: (isMeant: (principal: Principal) => boolean) => void;
};
