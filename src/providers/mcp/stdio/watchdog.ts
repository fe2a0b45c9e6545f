/**
 * Ends the children of a gateway that died without a chance to do it itself (SIGKILL, out of memory).
 *
 * One small shell process per gateway reads a pipe whose other end only the gateway holds. The gateway writes "+pgid" when a
 * process group starts and "-pgid" when it is gone. However the gateway dies, the pipe ends; then every group still
 * registered gets SIGTERM, and SIGKILL after two seconds. Groups that ended are not registered any more, so a reused
 * process id is never hit.
 *
 * Before a child starts, "?mark" announces it: the child bears the mark in its environment, and "!mark" is written with
 * its group. A mark that is still open when the pipe ends belongs to a child whose group nobody could tell any more: it,
 * and what it started, is found by its mark (on Linux; elsewhere such a child sees only the end of its standard input).
 */

import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";

export interface Watchdog {
  /** A child is about to be spawned, and must have this in its environment. Starts the process if needed. */
  announce(): Readonly<Record<string, string>>;
  /** The child that was announced last has this group; undefined: it could not start. */
  watch(pgid: number | undefined): void;
  unwatch(pgid: number): void;
  /** The process of the watchdog, while it runs. */
  readonly pid: number | undefined;
  /** Lets the watchdog go. Groups that are still registered are ended by it. Safe to call twice. */
  close(): void;
}

/** The variable by which a child is found before its group is known. */
const MARK = "ISTHMUS_CHILD";

// POSIX sh. It ignores the signals a terminal or an init system sends to everyone: it has to outlive the gateway.
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
groups=' '
marks=' '
while read -r line; do
  id=\${line#?}
  case $line in
    +*) groups="$groups$id " ;;
    '?'*) marks="$marks$id " ;;
    '!'*) case $marks in *" $id "*) before=\${marks%% $id *} after=\${marks#* $id }; marks="$before $after" ;; esac ;;
    -*) case $groups in *" $id "*) before=\${groups%% $id *} after=\${groups#* $id }; groups="$before $after" ;; esac ;;
  esac
done
for mark in $marks; do
  for environ in /proc/[0-9]*/environ; do
    tr '\\0' '\\n' < "$environ" | grep -qx "${MARK}=$mark" || continue
    id=\${environ#/proc/} id=\${id%/environ}
    kill -s KILL "$id"
  done
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
  let mark = "";
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
    announce() {
      prepare();
      mark = randomUUID();
      tell(`?${mark}`);
      return { [MARK]: mark };
    },
    watch(pgid) {
      prepare();
      const isNew = pgid !== undefined && !groups.has(pgid);
      if (isNew) groups.add(pgid);
      tell(`${isNew ? `+${pgid}\n` : ""}!${mark}`);
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
