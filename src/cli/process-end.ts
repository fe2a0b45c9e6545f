/** How the process ends: by signals, with draining, or by a defect, with the log written first. */
import type { FlushableLog } from "../server/log.ts";
import { EXIT_CODES } from "./exit-codes.ts";

/** The first SIGTERM or SIGINT runs `close` and ends with 0; a second one ends at once. */
export function endOnSignals(log: FlushableLog, close: () => Promise<void>): void {
  let isEnding = false;
  const end = (signal: NodeJS.Signals) => {
    if (isEnding) exit(log, "failure");
    isEnding = true;
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
