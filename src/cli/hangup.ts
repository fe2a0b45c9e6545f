import { closeSync, openSync } from "node:fs";

/**
 * SIGHUP means "read the config again". A terminal that is closed sends it too: then there is nobody to serve any more,
 * and the process ends as it does on SIGTERM.
 */
export function onHangup(reload: () => void): void {
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY;
  process.on("SIGHUP", () => {
    if (hasTerminal && isTerminalGone()) process.kill(process.pid, "SIGTERM");
    else reload();
  });
}

function isTerminalGone(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return false;
  } catch {
    return true;
  }
}
