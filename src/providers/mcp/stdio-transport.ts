/** A server that is a child process: one message per line, everything on one pipe. */
import type { Clock, GatheredBytes, Log, Slices, Timers } from "../../contract/index.ts";
import { MessageFault } from "../../wire/jsonrpc/index.ts";
import type { ChildPlace } from "./child-places.ts";
import { peekAnswer, peekId } from "./large-answer.ts";
import type { McpConfig } from "./mcp-config.ts";
import { mayBatch, readMessages, UnheldMessage } from "./read-messages.ts";
import {
  type Child,
  type ChildExit,
  createTellingFilter,
  StderrLines,
  spawnChild,
  WaitingLines,
  type Watchdog,
} from "./stdio/index.ts";
import {
  type RequestSink,
  type RequestStream,
  type TransportHandlers,
  type UpstreamFailure,
  UpstreamFault,
  type UpstreamTransport,
} from "./transport.ts";

export type StdioOptions = {
  readonly config: McpConfig;
  readonly parentEnv: Readonly<Record<string, string | undefined>>;
  readonly watchdog: Watchdog;
  readonly clock: Clock;
  readonly slices: Slices;
  readonly timers: Timers;
  readonly log: Log;
  readonly gathered: GatheredBytes;
  readonly hearProgram?: HearProgram | undefined;
  /** Where only so many processes may run; absent: this one always may. */
  readonly takePlace?: (() => ChildPlace) | undefined;
};

/** A program of that server has started: hears the lines of its standard error that say something. */
export type HearProgram = (server: string) => (line: string) => void;

/** How much may wait for a server that reads slowly, or it would fill our memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const FULL: UpstreamFailure = {
  kind: "full",
  message: "The server reads slower than it is called, and too much waits for it.",
};
/** A server that has taken nothing for so long, while it was to read more than may wait, reads nothing any more. */
const NOT_READING_MS = 5_000;
const NOT_READING: UpstreamFailure = { kind: "unreachable", message: "The server does not read what it is sent." };
/** How much of answers to what it asks: a server that asks on and on and reads nothing has us read for ever. */
const MAX_OWED_BYTES = 4 * 1024 * 1024;

// One pipe for all: pausing it for one call would hold up the others.
const sharedPipe: RequestStream = { pause() {}, resume() {}, abort() {} };

export function createStdioTransport(options: StdioOptions): UpstreamTransport {
  const { config } = options;
  let child: Child | undefined;
  let place: ChildPlace | undefined;
  let isClosed = false;
  let hasBatches = false;
  let lose: ((failure: UpstreamFailure) => void) | undefined;
  /** Of answers, since the server last had read everything. */
  let owedBytes = 0;

  function onLine(line: string, handlers: TransportHandlers): void {
    const large = peekAnswer(line);
    if (large && handlers.onLarge?.(large)) return;
    try {
      for (const message of readMessages(line, hasBatches)) handlers.onMessage(message);
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error;
      handlers.onFault(error);
    }
  }

  /** The pipe takes more, and nothing waits for it. */
  let isFree = true;
  /** Since when it has taken nothing, and how much it was to take since. */
  let fullSince = 0;
  let wantedBytes = 0;
  const waiting = new WaitingLines(MAX_WAITING_BYTES);

  function write(line: string, tag?: string): void {
    if (child?.write(line, tag) !== false) return;
    isFree = false;
    fullSince = options.clock.now();
    wantedBytes = 0;
  }

  function onDrain(): void {
    owedBytes = 0;
    isFree = true;
    while (isFree) {
      const next = waiting.take();
      if (!next) return;
      write(next.text, next.tag);
    }
  }

  /** Of what is to be sent while the pipe is full. */
  function isRead(bytes: number): boolean {
    wantedBytes += bytes;
    return wantedBytes <= MAX_WAITING_BYTES || options.clock.now() - fullSince < NOT_READING_MS;
  }

  /** The request waits until the pipe takes it. */
  function queue(text: string, sink: RequestSink): RequestStream {
    if (!isRead(text.length)) {
      queueMicrotask(() => sink.onFailure(NOT_READING));
      return sharedPipe;
    }
    const line = { text, tag: sink.id, refuse: () => queueMicrotask(() => sink.onFailure(FULL)) };
    waiting.add(line, sink.caller);
    const takeBack = () => waiting.remove(line);
    return { ...sharedPipe, abort: () => void takeBack(), takeBack };
  }

  /** False: it has to wait. */
  function say(text: string): boolean {
    const line = oneLine(text);
    if (isFree) write(line);
    else waiting.add({ text: line, refuse() {} }, undefined);
    return isFree;
  }

  function start(handlers: TransportHandlers): void {
    const { log, timers } = options;
    const stderr = new StderrLines({ log, timers, hear: options.hearProgram?.(config.id) });
    lose = handlers.onLost.bind(handlers);
    child = spawnChild({
      command: config.command ?? "",
      args: config.args,
      env: config.env,
      secrets: config.secrets ?? [],
      parentEnv: options.parentEnv,
      watchdog: options.watchdog,
      maxLineBytes: config.maxMessage,
      ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
      gathered: options.gathered,
      pace: options,
      onLine: (line) => onLine(line, handlers),
      onDropped: (head, tail) => handlers.onFault(new UnheldMessage(peekId(head, tail))),
      onDrain,
      onStderr: (text) => stderr.push(text),
      onExit(exit) {
        stderr.end();
        void end();
        if (!isClosed) handlers.onLost(describeExit(exit, child?.stderrTail() ?? ""));
      },
    });
  }

  /** Its place is free again when nothing of it runs. */
  async function end(): Promise<void> {
    await child?.kill();
    place?.leave();
  }

  return {
    hasStreams: false,
    issuesSessions: false,
    canAsk: true,
    mayBeModern: true,

    async open(handlers) {
      place = options.takePlace?.();
      if (place?.free !== undefined) await place.free;
      if (isClosed) throw new UpstreamFault({ kind: "unreachable", message: "The session was closed." });
      start(handlers);
    },

    request(text, sink) {
      const line = oneLine(text);
      if (!isFree) return queue(line, sink);
      write(line, sink.id);
      return sharedPipe;
    },

    unsent: () => [...(child?.unsent ?? []), ...waiting.tags],

    send(text) {
      say(text);
      return Promise.resolve(undefined);
    },

    answer(text) {
      if (!say(text)) owedBytes += text.length;
      if (owedBytes > MAX_OWED_BYTES && !isClosed) {
        isClosed = true;
        lose?.({ ...NOT_READING, kind: "lost" });
      }
      return Promise.resolve(undefined);
    },

    agree(version) {
      hasBatches = mayBatch(version);
    },
    listen: () => Promise.resolve(),

    async close() {
      isClosed = true;
      await end();
    },
  };
}

/** Line ends in JSON text can only be white space between tokens: in strings they are escaped. */
function oneLine(text: string): string {
  return text.includes("\n") || text.includes("\r") ? text.replace(/[\r\n]/g, " ") : text;
}

function describeExit(exit: ChildExit, tail: string): UpstreamFailure {
  if (exit.error) {
    const hasStarted = exit.code !== null || exit.signal !== null;
    return { kind: hasStarted ? "invalid" : "unreachable", message: exit.error.message, cause: exit.error.cause };
  }
  const how = exit.signal === null ? `exited with code ${exit.code}` : `ended by ${exit.signal}`;
  // What a server says when it dies may name its credentials: it goes to the log and to operators, never to callers.
  const lastLine = tail.split("\n").filter(createTellingFilter()).at(-1)?.trim().slice(0, 200) ?? "";
  return { kind: "lost", message: how, ...(lastLine === "" ? {} : { cause: lastLine }) };
}
