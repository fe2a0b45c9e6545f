/**
 * Ends the children of a gateway that died without a chance to do it itself (SIGKILL, out of memory).
 *
 * One small shell process per gateway reads a pipe whose other end only the gateway holds. The gateway writes "+pgid" when a
 * process group starts and "-pgid" when it is gone. However the gateway dies, the pipe ends; then every group still
 * registered gets SIGTERM, and SIGKILL after two seconds. Groups that ended are not registered any more, so a reused
 * process id is never hit.
 *
 * What remains open: a gateway that is killed between the start of a child and the write of its "+pgid", a matter of
 * microseconds. Such a child still sees the end of its standard input.
 */

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import type { Socket } from "node:net";

export interface Watchdog {
  /** Starts the process if needed. To be called before a child is spawned, so that `watch` right after is one write. */
  prepare(): void;
  watch(pgid: number): void;
  unwatch(pgid: number): void;
  /** The process of the watchdog, while it runs. */
  readonly pid: number | undefined;
  /** Lets the watchdog go. Groups that are still registered are ended by it. Safe to call twice. */
  close(): void;
}

// POSIX sh. It ignores the signals a terminal or an init system sends to everyone: it has to outlive the gateway.
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
while read -r line; do
  id=\${line#?}
  case $line in
    +*) groups="$groups$id " ;;
    -*) case $groups in *" $id "*) before=\${groups%% $id *} after=\${groups#* $id }; groups="$before $after" ;; esac ;;
  esac
done
for id in $groups; do kill -s TERM -- "-$id"; done
for pause in 1 1; do
  alive=
  for id in $groups; do kill -s 0 -- "-$id" && alive=yes; done
  [ -n "$alive" ] || exit 0
  sleep $pause
done
for id in $groups; do kill -s KILL -- "-$id"; done
`;

const MIN_LIFE_MS = 1000;

/** Starts nothing until the first child. */
export function createWatchdog(): Watchdog {
  const groups = new Set<number>();
  let helper: ChildProcess | undefined;
  let startedAt = 0;
  let isClosed = false;

  function prepare(): void {
    if (helper !== undefined || isClosed) return;
    startedAt = performance.now();
    // `detached` gives it a session of its own. Our other descriptors are close-on-exec; the environment stays with us.
    const started = spawn("/bin/sh", ["-c", SCRIPT, "isthmus-watchdog"], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
    });
    helper = started;
    started.on("error", () => forget(started));
    started.on("exit", () => forget(started));
    started.unref();
    const pipe = started.stdin as Socket | undefined; // missing when we are out of file descriptors; "error" follows
    pipe?.on("error", () => {}); // it died; "exit" follows
    pipe?.unref();
    for (const pgid of groups) tell(`+${pgid}`);
  }

  /** Someone killed it: another one takes over, unless it cannot live here at all; then the next child tries again. */
  function forget(dead: ChildProcess): void {
    if (helper !== dead) return;
    helper = undefined;
    if (groups.size > 0 && performance.now() - startedAt > MIN_LIFE_MS) prepare();
  }

  /** Goes out before it returns: libuv tries to write at once, and such a short line fits the pipe. */
  function tell(line: string): void {
    helper?.stdin?.write(`${line}\n`, "latin1");
  }

  return {
    prepare,
    watch(pgid) {
      if (groups.has(pgid)) return;
      prepare();
      groups.add(pgid);
      tell(`+${pgid}`);
    },
    unwatch(pgid) {
      if (groups.delete(pgid)) tell(`-${pgid}`);
    },
    get pid() {
      return helper?.pid;
    },
    close() {
      isClosed = true;
      helper?.stdin?.end();
    },
  };
}
