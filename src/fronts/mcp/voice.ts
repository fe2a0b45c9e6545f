/** How MCP clients of the 2025 era hear what happens outside their calls. */
import { type Ask, type Catalog, decodeString, type ListedKind, type Notice, payload } from "../../contract/index.ts";
import {
  MAX_KEPT_TEXT,
  type OutboxItem,
  type Session,
  subscriptionFor,
  type Voice,
} from "../../mechanisms/sessions/index.ts";
import { notificationText } from "../../wire/jsonrpc/index.ts";
import { LIST_CHANGED } from "../../wire/mcp/index.ts";
import { isDialectWord } from "../../wire/mgp/index.ts";
import { askFor, askText } from "./asks.ts";
import { stampOf } from "./lists.ts";
import { passesLevel } from "./log-level.ts";
import { isTold } from "./subscribe-call.ts";
import { toldUpdate } from "./told-updates.ts";

const NOTHING: readonly OutboxItem[] = [];

/** `onEnded`: hears of every session that is over here. */
export function createVoice(catalog: Catalog, onEnded: (session: Session) => void = () => undefined): Voice {
  /** Whether what the session was last told about this kind is out of date. Remembers what it is told now. */
  function hasChanged(session: Session, kind: ListedKind, from: string): boolean {
    const view = catalog.view(session.catalog, session.principal, session);
    const stamp = stampOf(view.list(kind).older);
    const seen = session.seen?.[kind];
    if (seen === stamp) return false;
    if (seen === undefined && !view.providers.some((provider) => provider.id === from)) return false;
    session.seen ??= {};
    session.seen[kind] = stamp;
    return true;
  }

  return {
    notice(session, notice) {
      if (isServers(notice) && !isReached(catalog, session, notice.from)) return undefined;
      // What is said in these words is ours: no server speaks for us.
      if (isDialectWord(notice.method)) return undefined;
      if (notice.method === "notifications/message") {
        return passesLevel(session, notice.payload) ? item("log", notice) : undefined;
      }
      if (notice.method === "notifications/resources/updated") return updated(catalog, session, notice);
      return item("notice", notice);
    },
    listChanged(session, notice) {
      if (!session.isEntered || !("catalog" in notice.to)) return NOTHING;
      // Another process hears of its state with the lists of a server, too.
      const kinds = notice.to.catalog.filter((kind) => session.isPeer || hasChanged(session, kind, notice.from));
      if (kinds.length === 0) return NOTHING;
      const methods = new Set(kinds.map((kind) => LIST_CHANGED[kind]));
      return [...methods].map((method) => ({
        type: "list_changed",
        key: method,
        text: notificationText(method, payload("")),
      }));
    },
    question(session: Session, id: string, ask: Ask) {
      const asked = askFor(session, ask);
      return asked && askText(id, asked);
    },
    withdrawal: (id) => notificationText("notifications/cancelled", payload(`{"requestId":${id}}`)),
    ended(session, reason) {
      onEnded(session);
      catalog.leave(session, reason);
    },
  };
}

/** What a server says that a client may not reach any more is not for it. */
export function isReached(catalog: Catalog, session: Session, from: string): boolean {
  return catalog.view(session.catalog, session.principal, session).providers.some(({ id }) => id === from);
}

/** A server's own words. */
function isServers({ method }: Notice): boolean {
  return method === "notifications/message" || method === "notifications/resources/updated";
}

function item(type: OutboxItem["type"], notice: Notice): OutboxItem {
  return itemOf(notice, "", () => ({ type, text: notificationText(notice.method, notice.payload) }));
}

/** All who are told the same share it. */
const ITEMS = new WeakMap<Notice, Map<string, OutboxItem>>();

function itemOf(notice: Notice, name: string, make: () => OutboxItem): OutboxItem {
  const items = ITEMS.get(notice) ?? new Map<string, OutboxItem>();
  ITEMS.set(notice, items);
  const made = items.get(name) ?? make();
  items.set(name, made);
  return made;
}

/**
 * The resource under the name this client knows it by. Only the last update of each counts. Undefined where the client may not
 * see it: what it never subscribed to is known by no name here, and told only where everything is.
 */
function updated(catalog: Catalog, session: Session, notice: Notice): OutboxItem | undefined {
  const uri = uriOf(notice);
  const subscription = uri === undefined ? undefined : subscriptionFor(session, notice.from, uri);
  if (subscription && uri !== undefined && !isTold(catalog, session, { subscription, uri })) return undefined;
  if (!subscription && catalog.view(session.catalog, session.principal, session).isPartial) return undefined;
  if (uri === undefined) return item("updated", notice);
  if (!subscription) return updateItem(notice, uri, uri);
  return updateItem(notice, uri, subscription.shown + uri.slice(subscription.own.length));
}

function updateItem(notice: Notice, uri: string, shown: string): OutboxItem {
  return itemOf(notice, shown, () => {
    const { params, brief } = toldUpdate(notice, uri, shown);
    const text = notificationText(notice.method, params);
    const item = { type: "updated", key: shown, text } as const;
    return text.length > MAX_KEPT_TEXT ? { ...item, brief: notificationText(notice.method, brief) } : item;
  });
}

function uriOf(notice: Notice): string | undefined {
  if ("resource" in notice.to) return notice.to.resource;
  return decodeString(notice.payload.at(["uri"]));
}
