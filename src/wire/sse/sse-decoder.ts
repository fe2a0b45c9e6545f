/**
 * Incremental decoder of text/event-stream over latin1 text (one character per byte).
 * Knows nothing of what the data means; an event cut off by the end of the stream is dropped, as the standard asks.
 */
import { copyText, GatheredText } from "../../contract/index.ts";

/** `isIdDropped`: it had an id of more than 1 KiB, which is not given. As after an empty one, there is nothing to go on from. */
export type SseEvent = { id?: string; isIdDropped?: true; type: string; data: string; retry?: number };

/** Ids are kept for as long as the stream may be taken up again, and sent back for that. */
export const MAX_EVENT_ID = 1024;
/** No type that means anything is as long. */
const MAX_TYPE = 1024;

export type SseDecoderOptions = {
  /** Bound on the data of one event and on one line, in bytes. */
  maxEventBytes: number;
  /** Called once per event, and with `data: ""` for a block that carries only an id or a retry time. */
  onEvent(event: SseEvent): void;
};

export interface SseDecoder {
  /** Takes the next piece of the stream. Throws when an event is larger than the bound; the stream is then unusable. */
  push(text: string): void;
  /** What is here of an event that is not whole. */
  readonly restBytes: number;
}

const BOM = "\u00ef\u00bb\u00bf"; // the three UTF-8 bytes, as latin1 text
const COMMON_START = "event: message\ndata: ";
const LONGEST_DATA_FIELD = "data: ".length; // allowed on top of the data itself, so that the bound does not depend on how the stream was cut
const LF = 10;
const SPACE = 32;

export function createSseDecoder(options: SseDecoderOptions): SseDecoder {
  const { maxEventBytes, onEvent } = options;
  let bomSeen: string | undefined = ""; // what came of a possible BOM; undefined once that is decided
  let lastWasCr = false;
  const rest = new GatheredText(); // a line not yet ended
  let id: string | undefined;
  let isIdDropped = false;
  let type = "";
  const data = new GatheredText();
  let hasData = false;
  let retry: number | undefined;

  function checkBound(bytes: number): void {
    if (bytes > maxEventBytes) throw new Error(`an event of the stream is larger than ${maxEventBytes} bytes`);
  }

  function dispatch(): void {
    if (hasData || id !== undefined || retry !== undefined) {
      const event: SseEvent = { type: type === "" ? "message" : type, data: data.take() };
      if (id !== undefined) event.id = id;
      if (isIdDropped) event.isIdDropped = true;
      if (retry !== undefined) event.retry = retry;
      id = retry = undefined;
      hasData = isIdDropped = false;
      type = "";
      onEvent(event);
    } else {
      type = "";
    }
  }

  function takeLine(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
    if (field === "data") {
      checkBound((hasData ? data.length + 1 : 0) + value.length);
      if (hasData) data.add("\n");
      if (value !== "") data.add(value);
      hasData = true;
    } else if (field === "event") type = value.length > MAX_TYPE ? copyText(value.slice(0, MAX_TYPE)) : value;
    else if (field === "id" && !value.includes("\0")) {
      isIdDropped = value.length > MAX_EVENT_ID;
      id = isIdDropped ? "" : copyText(value);
    } else if (field === "retry" && /^\d{1,15}$/.test(value)) retry = Number(value);
  }

  /** Takes whole events in the one form nearly every server writes; returns where it stopped. */
  function takeCommonEvents(text: string): number {
    let at = 0;
    while (text.startsWith(COMMON_START, at)) {
      const start = at + COMMON_START.length;
      const end = text.indexOf("\n", start);
      if (end === -1 || text.charCodeAt(end + 1) !== LF) break;
      checkBound(end - start);
      at = end + 2;
      onEvent({ type: "message", data: text.slice(start, end) });
    }
    return at;
  }

  function withoutBom(text: string, seen: string): string {
    const start = seen + text;
    if (start.length < BOM.length && BOM.startsWith(start)) {
      bomSeen = start;
      return "";
    }
    bomSeen = undefined;
    return start.startsWith(BOM) ? start.slice(BOM.length) : start;
  }

  /** Turns every line end into LF. A CR at the end of a chunk ends its line at once; an LF that follows is skipped. */
  function withLineFeeds(text: string): string {
    const plain = lastWasCr && text.charCodeAt(0) === LF ? text.slice(1) : text;
    if (text !== "") lastWasCr = text.endsWith("\r");
    return plain.includes("\r") ? plain.replace(/\r\n?/g, "\n") : plain;
  }

  return {
    get restBytes() {
      return rest.length + data.length;
    },
    push(chunk) {
      const text = withLineFeeds(bomSeen === undefined ? chunk : withoutBom(chunk, bomSeen));
      const isBetweenEvents = rest.length === 0 && type === "" && !hasData && id === undefined && retry === undefined;
      let at = isBetweenEvents ? takeCommonEvents(text) : 0;
      for (let end = text.indexOf("\n", at); end !== -1; end = text.indexOf("\n", at)) {
        const line = rest.add(text.slice(at, end)).take();
        checkBound(line.length - LONGEST_DATA_FIELD);
        at = end + 1;
        if (line === "") dispatch();
        else takeLine(line);
      }
      if (at < text.length) rest.add(text.slice(at));
      checkBound(rest.length + data.length - LONGEST_DATA_FIELD);
    },
  };
}
