/** Lists are ready text of a view: no call is made for them. */
import { createHash } from "node:crypto";
import { decodeString, jsonText, spliceText, type View, type ViewList } from "../../contract/index.ts";
import { errorText, type Message } from "../../wire/jsonrpc/index.ts";
import type { ListRoute } from "../../wire/mcp/index.ts";
import { type Exchange, viewOf } from "./calls.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import type { FrontContext } from "./front-context.ts";
import type { Outlet } from "./outlet.ts";
import { withHome } from "./peers.ts";

/** Above this size the answer is kept as bytes: encoding a long text again costs more than a second write. */
export const LARGE = 64 * 1024;

type Ready = { readonly stamp: number; text?: string; bytes?: Buffer };

const READY = new WeakMap<ViewList, Ready>();
const STAMP_BYTES = 6;

function readyOf(list: ViewList): Ready {
  const known = READY.get(list);
  if (known) return known;
  const ready: Ready = { stamp: digestOf(list) };
  READY.set(list, ready);
  return ready;
}

/** The same in every process, so that a client may go on with a list elsewhere. */
function digestOf(list: ViewList): number {
  const hash = createHash("sha256").update(list.slice(0, list.count), "latin1").update(`\0${list.extras}`, "latin1");
  return hash.digest().readUIntBE(0, STAMP_BYTES);
}

/** A number that stands for this list: unequal lists have unequal numbers, and keeping it keeps nothing alive. */
export function stampOf(list: ViewList): number {
  return readyOf(list).stamp;
}

export function answerList(front: FrontContext, exchange: Exchange, route: ListRoute): void {
  const { session, message, outlet } = exchange;
  const view = viewOf(front, exchange);
  const own = view.list(route.kind);
  // Another process shows it to clients of both eras.
  const list = session.isPeer ? own : own.older;
  front.catalog.listed(session.catalog, session, route.kind);
  const start = startOf(front, list, route, message);
  if (start === undefined) {
    return outlet.answer(
      errorText(message.id, { code: -32602, message: "The cursor is not valid any more; list again from the start" }),
    );
  }
  if (!session.isEphemeral) {
    session.seen ??= {};
    session.seen[route.kind] = stampOf(list);
  }
  const { pageSize } = front.config;
  const isWhole = pageSize === undefined || (start === 0 && list.count <= pageSize);
  if (isWhole && !session.isPeer && view.providers.every((provider) => provider.status === "ok"))
    return answerWhole(list, route, message, outlet);
  const end = pageSize === undefined ? list.count : Math.min(start + pageSize, list.count);
  const next = end < list.count ? encodeCursor(route.kind, end, stampOf(list)) : undefined;
  const page = pageText(view, list, route, start, end, next);
  const text = session.isPeer ? withHome(view, page) : page;
  outlet.answer(`{"jsonrpc":"2.0","id":${message.id},"result":${text}}`);
}

/** Where the asked page begins; undefined for a cursor we did not give for this list. */
export function startOf(front: FrontContext, list: ViewList, route: ListRoute, message: Message): number | undefined {
  const literal = message.members?.textOf("cursor");
  if (literal === undefined) return 0;
  if (front.config.pageSize === undefined) return undefined;
  const cursor = decodeCursor(decodeString(literal));
  return cursor?.kind === route.kind && cursor.stamp === stampOf(list) ? cursor.offset : undefined;
}

function answerWhole(list: ViewList, route: ListRoute, message: Message, outlet: Outlet): void {
  const ready = readyOf(list);
  if (ready.text === undefined && ready.bytes === undefined) {
    const text = withPins(`{"${route.member}":[${list.slice(0, list.count)}]${extrasOf(list)}}`, list);
    if (text.length > LARGE) ready.bytes = Buffer.from(text, "latin1");
    else ready.text = text;
  }
  const head = `{"jsonrpc":"2.0","id":${message.id},"result":`;
  if (ready.bytes) outlet.answerParts(head, ready.bytes, "}");
  else outlet.answer(`${head}${ready.text}}`);
}

function pageText(
  view: View,
  list: ViewList,
  route: ListRoute,
  start: number,
  end: number,
  next: string | undefined,
): string {
  const cursor = next === undefined ? "" : `,"nextCursor":${jsonText(next)}`;
  const text = withPins(`{"${route.member}":[${list.slice(start, end)}]${cursor}${extrasOf(list)}}`, list);
  const troubles = troublesOf(view);
  return troubles === undefined ? text : spliceText(text, ["_meta", "dev.isthmus/servers"], troubles);
}

/** Further members of the result, each behind a comma. */
export function extrasOf({ extras }: ViewList): string {
  return extras === "" ? "" : `,${extras}`;
}

/** With what has changed since it was first seen, where anything has. */
export function withPins(result: string, { pins }: ViewList): string {
  return pins === undefined ? result : spliceText(result, ["_meta", "dev.isthmus/pins"], `{${pins}}`);
}

/** Which servers are missing from what the client sees, and why. */
export function troublesOf(view: View): string | undefined {
  const troubles = view.providers.filter((provider) => provider.status !== "ok");
  if (troubles.length === 0) return undefined;
  const members = troubles.map(({ id, status, since, message }) => {
    return `${jsonText(id)}:${jsonText(message === undefined ? { status, since } : { status, since, message })}`;
  });
  return `{${members.join(",")}}`;
}
