/**
 * A child process that speaks in lines and dies with its parent: own process group, a kill ladder, a watchdog.
 * Text to and from it is latin1, one character per byte. Knows nothing of MCP.
 */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { spawn } from "node:child_process";
import type { GatheredBytes, Pace } from "../../../contract/index.ts";
import { childEnvironment } from "./child-environment.ts";
import { endChild } from "./end-child.ts";
import { createLineSplitter } from "./line-splitter.ts";
import { createLineWriter } from "./line-writer.ts";
import { readInTurns } from "./pipe-reading.ts";
import { redactedText } from "./redacted-text.ts";
import { passwordIn, spellingsOf } from "./secret-spellings.ts";
import { describeSpawnError } from "./spawn-error.ts";
import type { Watchdog } from "./watchdog.ts";

export type ChildExit = {
  code: number | null;
  signal: NodeJS.Signals | null;
  /** Why it could not start, or why we ended it; absent when it ended by itself or was killed on request. */
  error?: Error;
};

export type ChildOptions = {
  command: string;
  args: readonly string[];
  /** Added to what is inherited from `parentEnv`, and instead of it. */
  env: Readonly<Record<string, string>>;
  parentEnv: Readonly<Record<string, string | undefined>>;
  /** What of all that it is given is not to be seen in what it writes to standard error. */
  secrets?: readonly string[];
  cwd?: string;
  watchdog: Watchdog;
  /** A longer line ends the child. */
  maxLineBytes: number;
  /** Counts what is here of a line that is not whole. */
  gathered?: GatheredBytes;
  /** A line for which there was no memory has ended: its beginning and its end. */
  onDropped?(head: string, tail: string): void;
  /** Of its output, when it comes without a pause. */
  pace: Pace;
  /** How long the child has between the steps of `kill`. Default 2 s. */
  graceMs?: number;
  onLine(line: string): void;
  /** The pipe took what made `write` return false. */
  onDrain?(): void;
  /** Decoded as UTF-8, in pieces as they come, without the secrets. */
  onStderr?(text: string): void;
  /** Once, after the last line, and never before `spawnChild` has returned. */
  onExit(exit: ChildExit): void;
};

export interface Child {
  /** Undefined when it could not start. */
  readonly pid: number | undefined;
  /** What was written and is not in the pipe yet: it grows while the child does not read. */
  readonly waitingBytes: number;
  /** The tags of lines of which certainly nothing has reached it. */
  readonly unsent: readonly string[];
  /**
   * Takes a line without its end. False: the pipe is full, wait for `onDrain`; the line itself is kept and sent.
   * Also false, and the line is lost, once the input is closed; `onExit` has come or is about to.
   */
  write(line: string, tag?: string): boolean;
  /** Closes its standard input after what was written. Safe to call twice. */
  endInput(): void;
  /** Stops reading its output, so that it blocks once the pipe is full. What is in the pipe when it exits still comes. */
  pause(): void;
  resume(): void;
  /** Closes standard input, then SIGTERM, then SIGKILL to the group. Resolves when all of it is gone. Safe to call twice. */
  kill(): Promise<void>;
  /** The last 8 KiB of its standard error, without the secrets. */
  stderrTail(): string;
}

const STDERR_TAIL = 8 * 1024;
const DRAIN_MS = 500;
/** So often it is waited for again, where it is we who have not taken what is in the pipe. */
const MAX_DRAINS = 10;

export function spawnChild(options: ChildOptions): Child {
  const { command, watchdog, graceMs = 2000 } = options;
  let started: ChildProcessWithoutNullStreams;
  const env = childEnvironment(options.parentEnv, options.env);
  const mark = watchdog.announce();
  try {
    started = spawn(command, [...options.args], {
      stdio: "pipe",
      detached: true, // a group of its own, which `kill` and the watchdog can signal as a whole
      env: { ...env, ...mark },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
  } catch (cause) {
    watchdog.watch(undefined);
    setImmediate(() => options.onExit({ code: null, signal: null, error: describeSpawnError(options, cause) }));
    return neverStarted;
  }
  // Out of file descriptors: there are no pipes, and the error comes as an event.
  if ((started.stdin as unknown) === undefined) {
    watchdog.watch(undefined);
    started.once("error", (cause) =>
      options.onExit({ code: null, signal: null, error: describeSpawnError(options, cause) }),
    );
    return neverStarted;
  }
  const child = started;
  const { pid, stdin, stdout, stderr } = child;
  watchdog.watch(pid);

  let exit: ChildExit | undefined; // set once the process itself has ended
  let reason: Error | undefined;
  let tail = "";
  let isReported = false;
  let drainTimer: NodeJS.Timeout | undefined;
  let ending: Promise<void> | undefined;

  const writer = createLineWriter(stdin, () => options.onDrain?.());
  const splitter = createLineSplitter(options);
  // What is inherited may hold the password of a proxy.
  const said = redactedText(spellingsOf([...(options.secrets ?? []), ...Object.values(env).flatMap(passwordIn)]));

  function kill(): Promise<void> {
    ending ??=
      pid === undefined ? Promise.resolve() : endChild({ child, pid, graceMs, closeInput: writer.end, watchdog });
    return ending;
  }

  function killBecause(error: Error): void {
    reason ??= error;
    stdout.destroy();
    void kill();
  }

  /** Pipes may be closed of which not everything has been taken. */
  function report(): void {
    output.whenTaken(() => errors.whenTaken(reportTaken));
  }

  function reportTaken(): void {
    if (isReported) return;
    isReported = true;
    options.gathered?.clear();
    clearTimeout(drainTimer);
    // Here, and not when it closes: whoever hears of the exit has heard everything before.
    if (said.rest !== "") options.onStderr?.(said.rest);
    const error = exit?.error ?? reason;
    options.onExit({
      code: exit?.code ?? null,
      signal: exit?.signal ?? null,
      ...(error === undefined ? {} : { error }),
    });
  }

  /** A process that left the group may hold our pipes open for ever. */
  function reportAfterDrain(drains = 0): void {
    if (isReported) return;
    drainTimer = setTimeout(() => {
      if (output.isResting && drains < MAX_DRAINS) return reportAfterDrain(drains + 1);
      stdout.destroy();
      stderr.destroy();
      report();
    }, DRAIN_MS);
  }

  stdin.on("error", () => void kill()); // EPIPE: it reads no more, so it cannot serve; usually it has just ended
  stdout.on("error", () => {});
  stderr.on("error", () => {});
  function onStderr(text: string): void {
    if (text === "") return;
    tail = (tail + text).slice(-STDERR_TAIL);
    options.onStderr?.(text);
  }
  const onBroken = (error: unknown) => killBecause(error instanceof Error ? error : new Error(String(error)));
  const output = readInTurns(stdout.setEncoding("latin1"), { take: splitter.push, onBroken }, options.pace);
  const takeStderr = (text: string) => onStderr(said.push(text));
  const errors = readInTurns(stderr.setEncoding("utf8"), { take: takeStderr, onBroken }, options.pace);
  child.on("error", (cause) => {
    if (pid !== undefined) return; // a signal could not be sent; the exit is reported by itself
    exit = { code: null, signal: null, error: describeSpawnError(options, cause) };
    report();
  });
  child.on("exit", (code, signal) => {
    exit = { code, signal };
    output.resume();
    void kill().then(() => reportAfterDrain()); // whatever it left behind in its group
  });
  child.on("close", report);

  return {
    pid,
    get waitingBytes() {
      return writer.waitingBytes;
    },
    get unsent() {
      return writer.unsent;
    },
    write: writer.write,
    endInput: writer.end,
    pause: output.pause,
    resume: output.resume,
    kill,
    stderrTail: () => (tail + said.rest).slice(-STDERR_TAIL),
  };
}

const neverStarted: Child = {
  pid: undefined,
  waitingBytes: 0,
  unsent: [],
  write: () => false,
  endInput() {},
  pause() {},
  resume() {},
  kill: () => Promise.resolve(),
  stderrTail: () => "",
};
