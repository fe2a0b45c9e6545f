/**
 * The log: one line per event on standard error, as JSON or, for a person at a terminal, as aligned text. Lines are
 * collected and written together: a call's line costs the caller no system call.
 */
import { escapeInvisible, type Log, type LogFields } from "../contract/index.ts";
import { LOG_LEVELS, type LogLevel } from "./log-level.ts";
import type { RecentLines } from "./recent-lines.ts";

const FLUSH_MS = 50;
const FLUSH_CHARACTERS = 64 * 1024;
/** Of one field. It may be a text of a server, which is as long as the server likes. */
const MAX_VALUE = 8 * 1024;

export type LogOptions = {
  readonly level: LogLevel;
  readonly format: "json" | "pretty" | LineFormat;
  /** Takes whole lines. */
  readonly write: (text: string) => void;
  /** The time of day in ms. */
  readonly now?: () => number;
  /** Keeps each line as JSON for a while. */
  readonly keep?: Pick<RecentLines, "add"> | undefined;
};

/** One event as text with its line end; nothing, when it is not to be shown. */
export type LineFormat = (time: string, level: LogLevel, message: string, fields: LogFields) => string;

export interface FlushableLog extends Log {
  /** Writes what is still collected. Lines logged later are written as ever. */
  flush(): void;
}

export function createLog(options: LogOptions): FlushableLog {
  const { now = Date.now, keep } = options;
  const threshold = LOG_LEVELS.indexOf(options.level);
  const formatLine = options.format === "pretty" ? prettyLine : options.format;
  let collected = "";
  let timer: NodeJS.Timeout | undefined;
  let stamp = { at: Number.NaN, text: "" };

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (collected === "") return;
    const text = collected;
    collected = "";
    options.write(text);
  }

  function time(): string {
    const at = now();
    if (at !== stamp.at) stamp = { at, text: new Date(at).toISOString() };
    return stamp.text;
  }

  function add(level: LogLevel, line: string): void {
    collected += line;
    if (level === "warn" || level === "error" || collected.length >= FLUSH_CHARACTERS) flush();
    else timer ??= setTimeout(flush, FLUSH_MS).unref();
  }

  function scoped(scope: LogFields): Log {
    const scopeText = fieldsText(scope);
    const clashes = scopeText === "" ? hasReserved : (fields: LogFields) => standsTwice(fields, scope);
    const joinedText = (fields: LogFields) =>
      clashes(fields) ? fieldsText(apart({ ...scope, ...defined(fields) })) : scopeText + fieldsText(fields);
    const at = (level: LogLevel) => {
      if (LOG_LEVELS.indexOf(level) < threshold) return () => {};
      const json = (message: string, fields: LogFields | undefined) =>
        `{"time":"${time()}","level":"${level}","message":${JSON.stringify(message)}${fields ? joinedText(fields) : scopeText}}`;
      if (formatLine !== "json") {
        return (message: string, fields: LogFields = {}) => {
          keep?.add(level, json(message, fields));
          add(level, formatLine(time(), level, message, { ...scope, ...fields }));
        };
      }
      return (message: string, fields?: LogFields) => {
        const line = json(message, fields);
        keep?.add(level, line);
        add(level, `${line}\n`);
      };
    };
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      child: (fields) => scoped(apart({ ...scope, ...fields })),
    };
  }

  return { ...scoped({}), flush };
}

/** What every line has. */
function isReserved(key: string): boolean {
  return key === "time" || key === "level" || key === "message";
}

/** The same where there is nothing else in the line; of each call it is asked. */
function hasReserved(fields: LogFields): boolean {
  return "time" in fields || "level" in fields || "message" in fields;
}

/** Whether a key would stand in the line twice: readers take the first one, the last one, or nothing at all. */
function standsTwice(fields: LogFields, scope: LogFields): boolean {
  for (const key in fields) if (isReserved(key) || key in scope) return true;
  return false;
}

function defined(fields: LogFields): LogFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A field that is called like what every line has gets a name of its own. */
function apart(fields: LogFields): LogFields {
  const taken = new Set(Object.keys(fields));
  const named = Object.entries(fields).map(([key, value]) => {
    let name = key;
    while (isReserved(name) || (name !== key && taken.has(name))) name += "_";
    return [name, value] as const;
  });
  return Object.fromEntries(named);
}

const FLAT_TYPES: ReadonlySet<string> = new Set(["string", "number", "boolean", "undefined"]);

/** The members as `,"key":value` text. A field that JSON cannot hold is printed, never thrown. */
function fieldsText(fields: LogFields): string {
  if (isFlat(fields)) return membersOf(JSON.stringify(fields));
  let text = "";
  for (const key in fields) {
    const value = fields[key];
    if (value === undefined) continue;
    text += `,${JSON.stringify(key)}:${valueText(value)}`;
  }
  return text;
}

/** Only texts that are not cut, numbers and truths, as in the line of a call: in one go they cost half of what they cost one by one. */
function isFlat(fields: LogFields): boolean {
  for (const key in fields) {
    const value = fields[key];
    if (!FLAT_TYPES.has(typeof value) || (typeof value === "string" && value.length > MAX_VALUE)) return false;
  }
  return true;
}

function cut(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}… (${text.length} characters)` : text;
}

function membersOf(object: string): string {
  return object === "{}" ? "" : `,${object.slice(1, -1)}`;
}

/** As JSON. Of what is too long the beginning stands there, as a text. */
function valueText(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(cut(value));
  const text = wholeText(value);
  return text.length > MAX_VALUE ? JSON.stringify(cut(text)) : text;
}

function wholeText(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return JSON.stringify(value);
  if (value instanceof Error) return JSON.stringify(errorFields(value));
  try {
    return JSON.stringify(value) ?? JSON.stringify(String(value));
  } catch {
    return JSON.stringify(String(value));
  }
}

function errorFields(error: Error): Record<string, unknown> {
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...(typeof code === "string" ? { code } : {}),
    ...(error.stack ? { stack: error.stack } : {}),
    ...(error.cause instanceof Error ? { cause: errorFields(error.cause) } : {}),
  };
}

const LEVEL_TEXT = { debug: "debug", info: "     ", warn: "warn ", error: "ERROR" } as const satisfies Record<
  LogLevel,
  string
>;

function prettyLine(time: string, level: LogLevel, message: string, fields: LogFields): string {
  const parts = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${prettyValue(value)}`);
  const line = `${time.slice(11, 23)} ${LEVEL_TEXT[level]} ${message.padEnd(24)} ${parts.join(" ")}`.trimEnd();
  return `${escapeInvisible(line)}\n`;
}

// Text may come from a server: shown as JSON, it cannot move the cursor or start a line of its own.
function prettyValue(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(cut(value.message));
  if (typeof value === "string" && value.length <= MAX_VALUE && /^[\w./:@+-]+$/.test(value)) return value;
  return valueText(value);
}
