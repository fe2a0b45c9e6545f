import type {
  Catalog,
  Clock,
  Confirmations,
  GatewayError,
  Hop,
  HttpRequest,
  Keys,
  Log,
  LostAnswer,
  Meter,
  NoteRefusal,
  ResultReading,
  ReturnRefusal,
  Runs,
  SharedState,
  Slices,
  Timers,
} from "../../contract/index.ts";
import type { KeptTasks } from "../../mechanisms/runs/index.ts";
import type { SessionRegistry, Voice } from "../../mechanisms/sessions/index.ts";
import type { AuditListeners } from "./mgp/audit-listeners.ts";
import type { MgpPorts } from "./mgp/mgp-ports.ts";

export type McpFrontConfig = {
  /** auto: a request without session id is served as ephemeral; stateful: it is refused. */
  readonly sessions: "auto" | "stateful";
  /** Host names beside the loopback ones, with or without a port. */
  readonly allowedHosts: readonly string[];
  /** Origins beside the loopback ones. A missing Origin passes. */
  readonly allowedOrigins: readonly string[];
  /** Unset: lists come in one answer. */
  readonly pageSize?: number | undefined;
  /** Largest message, in bytes. */
  readonly maxBody: number;
  /** How long a question waits for its answer. */
  readonly inputMs: number;
  readonly serverInfo: { readonly name: string; readonly version: string };
  /** The first answer of a session carries a cookie by which a balancer may send its client here again. */
  readonly cookie?: boolean;
  /** Events, and the log line of a call, name the address of its client. */
  readonly namesAddresses?: boolean;
};

export type McpPorts = {
  readonly catalog: Catalog;
  readonly runs: Runs;
  readonly sessions: SessionRegistry;
  readonly tasks: KeptTasks;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly meter: Meter;
  readonly slices: Slices;
  readonly keys: Keys;
  /** Where calls that wait are approved. */
  readonly confirmations?: Confirmations;
  /** Absent: nobody is spoken to in MGP. */
  readonly mgp?: MgpPorts;
  /** Hears of what was turned away before it became a call. */
  readonly refused?: NoteRefusal;
  /** Header lines that tell a caller which scopes it lacks for a call; "" where that is not what it lacks. */
  readonly stepUp?: (request: HttpRequest, error: GatewayError) => string;
  /** Hears of calls of processes that are gone, when their callers do. */
  readonly onLost?: (lost: LostAnswer) => void;
  /** Asked whenever somebody comes back for a call; absent: whoever made it may have what comes of it. */
  readonly returnRefusal?: ReturnRefusal;
  /** Hears of results that were handed out to whoever came back for them. */
  readonly resultRead?: (reading: ResultReading) => void;
  /** What this process shares with others; absent: it is alone. */
  readonly cluster?: FrontCluster;
};

export type FrontCluster = {
  readonly state: SharedState;
  /** The id of this process; it changes when the process had to join anew. */
  readonly member: () => string;
  /** How long a process may be silent before it is taken for dead. */
  readonly leaseMs: number;
  /** The way to the other processes; absent: there are none at the same time, only before and after. */
  readonly hop?: Hop;
};

/** What every part of this front has at hand. */
export type FrontContext = McpPorts & {
  readonly config: McpFrontConfig;
  readonly voice: Voice;
  readonly auditListeners: AuditListeners;
  /** Who holds what waits in this process. */
  readonly holder: () => string;
  /** Catalogs that were waited for once without a session: what everybody sees there is ready. */
  readonly readyCatalogs: Set<string>;
};
