/** Lists of 2026-07-28: the same ready text, with what this era adds and without what it does not know. */
import { jsonText, type Payload, payload, spliceText, type View, type ViewList } from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { errorText } from "../../../wire/jsonrpc/index.ts";
import { SERVER_INFO } from "../../../wire/mcp/2026-07-28/index.ts";
import type { ListRoute } from "../../../wire/mcp/index.ts";
import { encodeCursor } from "../cursor.ts";
import type { FrontContext } from "../front-context.ts";
import { extrasOf, LARGE, stampOf, startOf, troublesOf, withPins } from "../lists.ts";
import { withHome } from "../peers.ts";
import type { ModernExchange } from "./exchange.ts";
import { INVALID_PARAMS } from "./modern-errors.ts";

type Ready = { entries?: readonly string[]; text?: string; bytes?: Buffer };

const READY = new WeakMap<ViewList, Ready>();

export function answerModernList(
  front: FrontContext,
  session: Session,
  exchange: ModernExchange,
  route: ListRoute,
): void {
  const { message, outlet } = exchange;
  const view = front.catalog.view(session.catalog, exchange.principal, session);
  const list = view.list(route.kind);
  front.catalog.listed(session.catalog, session, route.kind);
  const start = startOf(front, list, route, message);
  if (start === undefined) {
    const text = "The cursor is not valid any more; list again from the start";
    return outlet.answer(errorText(message.id, { code: INVALID_PARAMS, message: text }));
  }
  session.seen ??= {};
  session.seen[route.kind] = stampOf(list);
  const head = `{"jsonrpc":"2.0","id":${message.id},"result":`;
  const { pageSize = Number.POSITIVE_INFINITY } = front.config;
  if (session.isPeer) {
    const end = Math.min(start + pageSize, list.count);
    const text = resultText(front, list, route, list.slice(start, end), nextOf(list, route, end));
    return outlet.answer(`${head}${withHome(view, text)}}`);
  }
  const ready = readyOf(list);
  if (start > 0 || list.count > pageSize || view.providers.some(({ status }) => status !== "ok")) {
    return outlet.answer(`${head}${pageText(front, view, list, route, start, start + pageSize)}}`);
  }
  if (ready.text === undefined && ready.bytes === undefined) {
    const text = pageText(front, view, list, route, 0, list.count);
    if (text.length > LARGE) ready.bytes = Buffer.from(text, "latin1");
    else ready.text = text;
  }
  if (ready.bytes) outlet.answerParts(head, ready.bytes, "}");
  else outlet.answer(`${head}${ready.text}}`);
}

function readyOf(list: ViewList): Ready {
  const known = READY.get(list);
  if (known) return known;
  const ready: Ready = {};
  READY.set(list, ready);
  return ready;
}

function pageText(
  front: FrontContext,
  view: View,
  list: ViewList,
  route: ListRoute,
  start: number,
  end: number,
): string {
  const entries = entriesOf(list, route).slice(start, end).join(",");
  const troubles = troublesOf(view);
  const text = withPins(resultText(front, list, route, entries, nextOf(list, route, end)), list);
  return troubles === undefined ? text : spliceText(text, ["_meta", "dev.isthmus/servers"], troubles);
}

function nextOf(list: ViewList, route: ListRoute, end: number): string {
  return end < list.count ? `,"nextCursor":${jsonText(encodeCursor(route.kind, end, stampOf(list)))}` : "";
}

function resultText(front: FrontContext, list: ViewList, route: ListRoute, entries: string, next: string): string {
  let result: Payload = payload(`{"${route.member}":[${entries}]${next}${extrasOf(list)}}`);
  // A server's own words about caching count only while we hear of its changes, so ours always stand here.
  for (const [key, json] of OUR_WORDS) result = result.splice([key], json);
  return result.splice(["_meta", SERVER_INFO], jsonText(front.config.serverInfo)).text;
}

const OUR_WORDS: readonly (readonly [string, string])[] = [
  ["resultType", '"complete"'],
  ["ttlMs", "0"],
  ["cacheScope", '"private"'],
];

/** `execution` speaks of the tasks of 2025, which do not exist here. */
function entriesOf(list: ViewList, route: ListRoute): readonly string[] {
  const ready = readyOf(list);
  if (ready.entries) return ready.entries;
  const whole = list.slice(0, list.count);
  if (route.kind !== "tool" || !whole.includes('"execution"')) {
    ready.entries = Array.from({ length: list.count }, (_, at) => list.slice(at, at + 1));
  } else {
    ready.entries = Array.from({ length: list.count }, (_, at) => spliceText(list.slice(at, at + 1), ["execution"]));
  }
  return ready.entries;
}
