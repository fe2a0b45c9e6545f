/**
 * One JSON-RPC message, skimmed once: its kind, its id as it was spelled, its method, and where the rest stands.
 * A message that two parsers could read differently does not get through here.
 */
import {
  copyText,
  decodeString,
  type Frame,
  JsonFault,
  Members,
  type Payload,
  PeerFault,
  payload,
  Scanner,
  SpecifiedNames,
  stringOf,
} from "../../contract/index.ts";
import { misspelledParam } from "../mcp/member-names.ts";

export type Message = {
  readonly kind: "request" | "notification" | "response";
  /** Without members that JSON-RPC does not have. */
  readonly text: string;
  /** The id's JSON text, exactly as it came; "" for a notification. */
  readonly id: string;
  /** "" for a response. */
  readonly method: string;
  /** params, result or error. Its text is "" where a request or notification has no params. */
  readonly body: Payload;
  /** The members of the body when it is an object. */
  readonly members: Members | undefined;
  /** Of a response: whether the body is a result or an error. */
  readonly outcome: "result" | "fault";
};

/** The message cannot be taken. `id` is its id where that could be read, else "null". */
export class MessageFault extends PeerFault {
  override readonly name = "MessageFault";
  readonly code: -32700 | -32600;
  readonly id: string;

  constructor(code: -32700 | -32600, message: string, id = "null") {
    super(message);
    this.code = code;
    this.id = id;
  }
}

/** A `_meta` object that came with a request: clients of 2026 send the same one with each, and it is walked once. */
let usualMeta = "";
let otherMetas = 0;
/** Clients that differ take turns: it is not worth a copy each time. */
const OTHERS_BEFORE_CHANGE = 16;
/** A shorter one is walked as fast as it is compared; it is a progress token, mostly. */
const MIN_USUAL = 64;
const MAX_USUAL = 4096;

function remember(params: Members): void {
  const meta = params.textOf("_meta");
  if (!meta?.startsWith("{") || meta.length < MIN_USUAL || meta.length > MAX_USUAL) return;
  otherMetas++;
  if (otherMetas % OTHERS_BEFORE_CHANGE === 0) usualMeta = copyText(meta);
}

const FRAME = new SpecifiedNames(["jsonrpc", "id", "method", "params", "result", "error"]);

/** Skims one message. Throws MessageFault. */
export function skimMessage(text: string): Message {
  const scanner = new Scanner(text, usualMeta);
  scanner.space();
  if (text.charCodeAt(scanner.at) !== 123) throw shapeFault(scanner, text);
  const top = new Members(text, scanner.at);
  let inner: Members | undefined;
  let params: Members | undefined;
  try {
    scanner.members(
      0,
      (key, start, end, keyStart) => top.add(key, start, end, keyStart),
      (key, start) => {
        if (key !== "params" && key !== "result" && key !== "error") return undefined;
        const members = new Members(text, start);
        inner = members;
        if (key === "params") params = members;
        return (name, from, to, keyStart) => members.add(name, from, to, keyStart);
      },
    );
    top.end = scanner.at;
    scanner.end();
    const isAnswer = !top.has("method");
    if ((params && isAnswer) || !top.keys.every((key) => FRAME.has(key))) return skimFrame(top, isAnswer);
    const message = classify(text, top, inner);
    // Only now: what is usual is not looked at again.
    if (params && !scanner.metKnown) remember(params);
    return message;
  } catch (error) {
    throw messageFault(error, text);
  }
}

/**
 * A message with further members, or an answer with params: they are judged by nobody and do not go on, and none may be another
 * spelling of ours.
 */
function skimFrame(top: Members, isAnswer: boolean): Message {
  const own: string[] = [];
  for (const [index, key] of top.keys.entries()) {
    const name = FRAME.misspelled(key);
    if (name !== undefined) throw new MessageFault(-32600, otherSpelling(name), idOf(top));
    if (FRAME.has(key) && !(isAnswer && key === "params")) own.push(`"${key}":${top.textAt(index)}`);
  }
  return skimMessage(`{${own.join(",")}}`);
}

function otherSpelling(name: string): string {
  return `a key is another spelling of ${name}`;
}

function idOf(top: Members): string {
  const id = top.textOf("id");
  return id !== undefined && isId(id) ? id : "null";
}

function classify(text: string, top: Members, inner: Members | undefined): Message {
  const id = top.textOf("id");
  const refuse = (message: string): never => {
    throw new MessageFault(-32600, message, idOf(top));
  };
  if (top.textOf("jsonrpc") !== '"2.0"') refuse('jsonrpc must be "2.0"');
  const method = top.textOf("method");
  if (method !== undefined) {
    const name = decodeString(method);
    if (name === undefined) return refuse("method must be a string");
    if (top.has("result") || top.has("error")) refuse("a message has either a method or an answer");
    if (id !== undefined && !isId(id)) refuse("id must be a string or a number");
    const params = top.spanOf("params");
    if (params && text.charCodeAt(params.start) !== 123) refuse("params must be an object");
    if (params && inner) refuseSpellings(name, inner, refuse);
    const at = params ?? { start: top.end - 1, end: top.end - 1 };
    const body = payload(text.slice(at.start, at.end), frameOf(text, top, at));
    if (params && inner) inner.end = params.end;
    return {
      kind: id === undefined ? "notification" : "request",
      text,
      id: id ?? "",
      method: name,
      body,
      members: params ? inner : undefined,
      outcome: "result",
    };
  }
  const result = top.spanOf("result");
  const error = top.spanOf("error");
  const answer = result ?? error;
  if (!answer || (result && error)) return refuse("a message needs a method, a result or an error");
  if (id === undefined || !(isId(id) || id === "null")) return refuse("an answer needs the id it answers");
  if (text.charCodeAt(answer.start) !== 123) return refuse("result and error must be objects");
  const body = payload(text.slice(answer.start, answer.end), frameOf(text, top, answer));
  if (inner) inner.end = answer.end;
  return { kind: "response", text, id, method: "", body, members: inner, outcome: result ? "result" : "fault" };
}

/** What judges read by its name stands under no other name, and no two keys are one to a reader that does not mind case. */
function refuseSpellings(method: string, params: Members, refuse: (message: string) => never): void {
  const name = misspelledParam(method, params, usualMeta);
  if (name !== undefined) refuse(otherSpelling(name));
  if (hasTwins(params)) refuse("two keys differ only in their case");
}

// Keys in which there is nothing to fold.
const PLAIN_KEY = /^[^A-Z\x80-\xff]*$/;

/**
 * Whether readers that do not mind case, Go's encoding/json among them, take two of the keys for one: such a reader would
 * act on the other one. They fold a few letters beyond ASCII as well, as the way through upper case does.
 */
function hasTwins({ keys }: Members): boolean {
  if (keys.every((key) => PLAIN_KEY.test(key))) return false;
  return new Set(keys.map((key) => stringOf(key).toUpperCase().toLowerCase())).size < keys.length;
}

function frameOf(text: string, top: Members, at: { start: number; end: number }): Frame {
  return { text, start: at.start, end: at.end, id: top.spanOf("id") };
}

function isId(text: string): boolean {
  const code = text.charCodeAt(0);
  return code === 34 || code === 45 || (code >= 48 && code <= 57);
}

function shapeFault(scanner: Scanner, text: string): MessageFault {
  try {
    scanner.value(0);
    scanner.end();
  } catch (error) {
    return messageFault(error, text);
  }
  return new MessageFault(-32600, "a message must be an object");
}

/** Text that is not JSON is a parse error; JSON that is ambiguous or too deep is an invalid message. */
function messageFault(error: unknown, text: string): MessageFault {
  if (!(error instanceof JsonFault)) throw error;
  const isSyntax = error.reason === "syntax" || error.reason === "encoding";
  return new MessageFault(isSyntax ? -32700 : -32600, error.message, isSyntax ? "null" : readableId(text));
}

/** The id of a message that was refused for something else; two ids, or one under an escaped key, are no id. */
function readableId(text: string): string {
  const ids: string[] = [];
  const scanner = new Scanner(text);
  scanner.space();
  try {
    scanner.members(0, (key, start, end) => {
      if (key === "id") ids.push(text.slice(start, end));
      else if (key.includes("\\") && decodeString(`"${key}"`) === "id") ids.push("");
    });
  } catch {
    return "null";
  }
  const [id] = ids;
  return ids.length === 1 && id !== undefined && isId(id) ? id : "null";
}

/** Whoever writes a batch decides how many messages are taken in one go. */
const MAX_BATCH = 256;

/** The texts of the messages in a batch, 256 at most. Throws MessageFault, as soon as there are more; an empty batch is one, too. */
export function skimBatch(text: string): string[] {
  const scanner = new Scanner(text);
  const parts: string[] = [];
  try {
    scanner.space();
    scanner.at++;
    scanner.space();
    while (text.charAt(scanner.at) !== "]") {
      if (parts.length === MAX_BATCH) throw new MessageFault(-32600, `A batch may hold ${MAX_BATCH} messages at most`);
      const start = scanner.at;
      scanner.value(1);
      parts.push(text.slice(start, scanner.at));
      scanner.space();
      if (text.charAt(scanner.at) !== "]" && text.charAt(scanner.at++) !== ",")
        scanner.fail("syntax", "expected , or ]");
      scanner.space();
    }
    scanner.at++;
    scanner.end();
  } catch (error) {
    throw messageFault(error, text);
  }
  if (parts.length === 0) throw new MessageFault(-32600, "an empty batch");
  return parts;
}

/** Whether the text is a JSON array, that is, a batch. */
export function isBatch(text: string): boolean {
  return /^[ \n\r\t]*\[/.test(text);
}
