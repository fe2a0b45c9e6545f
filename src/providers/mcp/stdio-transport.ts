/** A server that is a child process: one message per line, everything on one pipe. */
import type { Log } from "../../contract/index.ts";
import { MessageFault } from "../../wire/jsonrpc/index.ts";
import type { McpConfig } from "./mcp-config.ts";
import { readMessages } from "./read-messages.ts";
import { type Child, type ChildExit, spawnChild, type Watchdog } from "./stdio/index.ts";
import type { RequestStream, TransportHandlers, UpstreamFailure, UpstreamTransport } from "./transport.ts";

export type StdioOptions = {
  readonly config: McpConfig;
  readonly parentEnv: Readonly<Record<string, string | undefined>>;
  readonly watchdog: Watchdog;
  readonly log: Log;
};

/** How much may wait for a server that reads slowly. One that reads nothing gets nothing more, or it would fill our memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const NOT_READING: UpstreamFailure = { kind: "unreachable", message: "The server does not read what it is sent." };

// One pipe for all: pausing it for one call would hold up the others.
const sharedPipe: RequestStream = { pause() {}, resume() {}, abort() {} };

export function createStdioTransport(options: StdioOptions): UpstreamTransport {
  const { config, log } = options;
  let child: Child | undefined;
  let isClosed = false;

  function onLine(line: string, handlers: TransportHandlers): void {
    try {
      for (const message of readMessages(line)) handlers.onMessage(message);
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error;
      handlers.onFault(error);
    }
  }

  const isPlugged = () => child !== undefined && child.waitingBytes > MAX_WAITING_BYTES;

  return {
    hasStreams: false,
    issuesSessions: false,
    canAsk: true,
    mayBeModern: true,

    open(handlers) {
      const stderr = createLineLog(log);
      child = spawnChild({
        command: config.command ?? "",
        args: config.args,
        env: config.env,
        parentEnv: options.parentEnv,
        watchdog: options.watchdog,
        maxLineBytes: config.maxMessage,
        ...(config.cwd === undefined ? {} : { cwd: config.cwd }),
        onLine: (line) => onLine(line, handlers),
        onStderr: stderr,
        onExit(exit) {
          if (!isClosed) handlers.onLost(describeExit(exit, child?.stderrTail() ?? ""));
        },
      });
      return Promise.resolve();
    },

    request(text, sink) {
      if (isPlugged()) queueMicrotask(() => sink.onFailure(NOT_READING));
      else child?.write(oneLine(text), sink.id);
      return sharedPipe;
    },

    unsent: () => child?.unsent ?? [],

    send(text) {
      if (isPlugged()) return Promise.resolve(NOT_READING);
      child?.write(oneLine(text));
      return Promise.resolve(undefined);
    },

    agree() {},
    listen: () => Promise.resolve(),

    async close() {
      isClosed = true;
      await child?.kill();
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
    return { kind: hasStarted ? "invalid" : "unreachable", message: exit.error.message, cause: exit.error };
  }
  const how = exit.signal === null ? `exited with code ${exit.code}` : `ended by ${exit.signal}`;
  // What a server says when it dies may name its credentials: it goes to the log, never to callers.
  const lastLine = tail.trimEnd().split("\n").at(-1)?.trim().slice(0, 200) ?? "";
  return { kind: "lost", message: how, ...(lastLine === "" ? {} : { cause: lastLine }) };
}

/** Standard error as debug lines: servers write there what they like, mostly greetings. */
function createLineLog(log: Log): (text: string) => void {
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(-1024);
    for (const line of lines)
      if (line.trim() !== "") log.debug("server wrote to stderr", { line: line.slice(0, 1024) });
  };
}
