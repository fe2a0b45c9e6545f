/** Every counter the gateway has: its name, what it counts, and its one label. A label never holds a caller's text. */
export const COUNTERS = {
  isthmus_stage_ends_total: {
    help: "Calls that never reached their provider, by the stage that ended them.",
    label: "stage",
  },
  isthmus_events_dropped_total: {
    help: "Progress and log events dropped because nobody read them in time.",
    label: "type",
  },
  isthmus_events_late_total: { help: "Events of a server that came after its call had ended.", label: "server" },
  isthmus_notices_dropped_total: {
    help: "Notifications that were not passed on: of servers, not to be tied to a client or too large; of clients, too many.",
    label: "reason",
  },
  isthmus_refused_total: { help: "Messages refused before they became calls.", label: "reason" },
  isthmus_api_requests_total: { help: "Requests to the API, by the status of their answers.", label: "status" },
  isthmus_config_reloads_total: { help: "Attempts to take over a changed config (ok or refused).", label: "outcome" },
  isthmus_upstream_starts_total: { help: "Upstream sessions and processes started.", label: "server" },
  isthmus_breaker_opens_total: {
    help: "How often calls were kept away from a server that did not answer.",
    label: "server",
  },
  isthmus_pin_changes_total: { help: "Definitions that differ from what was pinned, each once.", label: "server" },
  isthmus_runs_evicted_total: { help: "Ended runs dropped before their resume window was over.", label: "reason" },
  isthmus_memberships_lost_total: {
    help: "How often this process could not renew its lease in time and closed its connections.",
    label: "reason",
  },
  isthmus_hops_total: { help: "Requests handed to another process, by how that ended.", label: "outcome" },
  isthmus_deliveries_total: {
    help: "Tries to send a message that must arrive, by outcome (sent, retried, failed, expired).",
    label: "outcome",
  },
  isthmus_approvals_total: {
    help: "Steps of calls that wait for a yes (waiting, approved, denied, expired, withdrawn, consumed), and refused proofs.",
    label: "state",
  },
  isthmus_audit_dropped_total: {
    help: "Audit events that could not be kept, or not be given on (spool, file, otlp, webhook).",
    label: "place",
  },
  isthmus_spans_dropped_total: { help: "Spans of traces that could not be exported.", label: "reason" },
} as const satisfies Record<string, { help: string; label: string }>;

export type CounterName = keyof typeof COUNTERS;

/**
 * What is told of calls, by the server they were for. `tool` is a name of the catalog, of a bounded number of tools of each
 * server, `other` for the rest, and empty for what is no tool; `kind` says what it is then.
 */
export const CALL_METRICS = {
  isthmus_calls_total: {
    help: "Finished calls by outcome (ok, tool_error, fault, or an error code).",
    labels: ["server", "kind", "tool", "code"],
  },
  isthmus_call_duration_seconds: {
    help: "How long calls took, from their first stage to their end.",
    labels: ["server", "kind", "tool"],
  },
} as const satisfies Record<string, { help: string; labels: readonly string[] }>;

/** Every other duration that is measured, in seconds, and its one label. */
export const HISTOGRAMS = {
  isthmus_stage_duration_seconds: {
    help: "How long calls were in each stage on their way in, and with their provider.",
    label: "stage",
  },
} as const satisfies Record<string, { help: string; label: string }>;

export type HistogramName = keyof typeof HISTOGRAMS;

/** Every gauge, read when /metrics is asked for. */
export const GAUGES = {
  isthmus_runs_open: "Calls that have not ended.",
  isthmus_runs_kept: "Ended calls kept for readers that come back.",
  isthmus_bytes_in_flight: "Bytes of messages held: not whole yet, of calls that have not ended, or not read.",
  isthmus_sessions: "Client sessions.",
  isthmus_upstream_sessions: "Upstream sessions.",
  isthmus_pins_pending: "Tools and prompts that have changed since they were pinned and are not accepted.",
  isthmus_shared_state_up: "1 while the store of sessions and open calls answers.",
  isthmus_database_up: "1 while the store of tasks and deliveries answers.",
  isthmus_members: "Processes of this gateway, as last known; 1 where no limit depends on it.",
  isthmus_config_stale: "1 while the config on disk was refused and an older one is in force.",
} as const satisfies Record<string, string>;

export type GaugeName = keyof typeof GAUGES;

/** The same for each server. */
export const SERVER_GAUGES = {
  isthmus_server_up: "1 while the server is reached and has listed what it offers.",
} as const satisfies Record<string, string>;

export type ServerGaugeName = keyof typeof SERVER_GAUGES;
