/** Every counter the gateway has: its name, what it counts, and its one label. A label never holds a caller's text. */
export const COUNTERS = {
  isthmus_calls_total: { help: "Finished calls by outcome (ok, fault, or an error code).", label: "code" },
  isthmus_events_dropped_total: {
    help: "Progress and log events dropped because nobody read them in time.",
    label: "type",
  },
  isthmus_events_late_total: { help: "Events of a provider that came after its call had ended.", label: "provider" },
  isthmus_notices_dropped_total: { help: "Notifications that could not be tied to a client.", label: "reason" },
  isthmus_refused_total: { help: "Messages refused before they became calls.", label: "reason" },
  isthmus_upstream_starts_total: { help: "Upstream sessions and processes started.", label: "provider" },
  isthmus_runs_evicted_total: { help: "Ended runs dropped before their resume window was over.", label: "reason" },
} as const satisfies Record<string, { help: string; label: string }>;

export type CounterName = keyof typeof COUNTERS;

/** Every gauge, read when /metrics is asked for. */
export const GAUGES = {
  isthmus_runs_open: "Calls that have not ended.",
  isthmus_runs_kept: "Ended calls kept for readers that come back.",
  isthmus_sessions: "Client sessions.",
  isthmus_upstream_sessions: "Upstream sessions.",
  isthmus_providers_ok: "Providers in state ok.",
} as const satisfies Record<string, string>;

export type GaugeName = keyof typeof GAUGES;
