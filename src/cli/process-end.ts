/** How the process ends: by signals, with draining, or by a defect, with the log written first. */
import type { FlushableLog } from "../server/log.ts";
import { EXIT_CODES } from "./exit-codes.ts";

/** By then npm has handed on what a terminal has sent to it and to us; a person who presses twice takes longer, or presses again. */
const ECHO_MS = 300;

/**
 * The first SIGTERM or SIGINT runs `close` and ends with 0; a second one ends at once. `hasEcho`: each signal may come twice.
 */
export function endOnSignals(log: FlushableLog, close: () => Promise<void>, { hasEcho = false } = {}): void {
  let endingSince: number | undefined;
  const end = (signal: NodeJS.Signals) => {
    if (endingSince !== undefined) {
      if (hasEcho && performance.now() - endingSince < ECHO_MS) return;
      exit(log, "failure");
    }
    endingSince = performance.now();
    log.info("stopping", { signal });
    close().then(
      () => exit(log, "ok"),
      (cause: unknown) => {
        log.error("gateway did not close", { cause });
        exit(log, "failure");
      },
    );
  };
  process.on("SIGTERM", end);
  process.on("SIGINT", end);
}

/** A defect that nobody caught: the state of the process is unknown, so it ends, and says why. */
export function endOnDefects(log: FlushableLog): void {
  process.on("uncaughtException", (cause) => {
    log.error("uncaught exception", { cause });
    exit(log, "failure");
  });
  process.on("unhandledRejection", (cause) => {
    log.error("unhandled rejection", { cause });
    exit(log, "failure");
  });
}

export function exit(log: FlushableLog, name: "ok" | "failure"): never {
  log.flush();
  process.exit(EXIT_CODES[name].code);
}
