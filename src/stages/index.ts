export { type LedgerOptions, ledgerStage } from "./ledger-stage.ts";
export { RecentCalls } from "./recent-calls.ts";
export { telemetryStage } from "./telemetry-stage.ts";
export { traceStage } from "./trace-stage.ts";
export { mapLinks } from "./uri-links.ts";
export { uriStage } from "./uri-stage.ts";
