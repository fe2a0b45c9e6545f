/** MCP on a pair of pipes: one client, one session, one message per line. */
import type { Readable, Writable } from "node:stream";
import { JsonFault, LOCAL, textOfBytes } from "../../../contract/index.ts";
import { errorText } from "../../../wire/jsonrpc/index.ts";
import { Connection } from "../connection.ts";
import type { FrontContext } from "../front-context.ts";
import type { ModernContext } from "../modern/modern-context.ts";
import { splitLines } from "./split-lines.ts";

/** How long calls that still run may take to answer after the client has closed its side. */
const GRACE_MS = 5000;

export type StdioOptions = { readonly input: Readable; readonly output: Writable; readonly catalog: string };

export interface StdioServing {
  /** Resolves when the client is gone and its session is over. */
  readonly closed: Promise<void>;
  close(): void;
}

export function serveStdio(
  front: FrontContext,
  modern: ModernContext,
  { input, output, catalog }: StdioOptions,
): StdioServing {
  const done = Promise.withResolvers<void>();
  let isEnding = false;
  const connection = new Connection(front, {
    principal: LOCAL,
    catalog,
    modern,
    // A message that came from elsewhere may be written over several lines; outside strings a line end is only space.
    write: (text) => output.write(`${/[\r\n]/.test(text) ? text.replace(/[\r\n]+/g, " ") : text}\n`, "latin1"),
    onQuiet: () => {
      if (isEnding) close();
    },
  });

  function close(): void {
    connection.close();
    input.off("data", push);
    input.pause();
    done.resolve();
  }

  function end(): void {
    isEnding = true;
    connection.hangUp();
    if (connection.isQuiet) return close();
    front.timers.after(GRACE_MS, close);
  }

  const push = splitLines(front.config.maxBody, {
    onLine: (line) => receive(connection, line),
    onTooLong: () => {
      front.meter.count("isthmus_refused_total", "body size");
      connection.write(
        errorText("null", { code: -32600, message: `A message is larger than ${front.config.maxBody} bytes` }),
      );
    },
  });
  input.on("data", push);
  input.on("end", end);
  input.on("error", close);
  output.on("drain", () => connection.drained());
  output.on("error", close);
  return { closed: done.promise, close };
}

function receive(connection: Connection, line: Buffer): void {
  let text: string;
  try {
    text = textOfBytes(line);
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    connection.write(errorText("null", { code: -32700, message: error.message }));
    return;
  }
  if (text.trim() !== "") connection.receive(text);
}
