/** How MCP clients of the 2025 era hear what happens outside their calls. */
import {
  type Ask,
  type Catalog,
  decodeString,
  jsonText,
  type ListedKind,
  type Notice,
  payload,
} from "../../contract/index.ts";
import { type OutboxItem, type Session, subscriptionFor, type Voice } from "../../mechanisms/sessions/index.ts";
import { notificationText } from "../../wire/jsonrpc/index.ts";
import { LIST_CHANGED } from "../../wire/mcp/index.ts";
import { askFor, askText } from "./asks.ts";
import { stampOf } from "./lists.ts";
import { passesLevel } from "./log-level.ts";

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
      if (notice.method === "notifications/message") {
        return passesLevel(session, notice.payload) ? item("log", notice) : undefined;
      }
      if (notice.method === "notifications/resources/updated") return updated(session, notice);
      return item("notice", notice);
    },
    listChanged(session, notice) {
      if (!session.isEntered || !("catalog" in notice.to)) return NOTHING;
      const kinds = notice.to.catalog.filter((kind) => hasChanged(session, kind, notice.from));
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
  return { type, text: notificationText(notice.method, notice.payload) };
}

/** The resource under the name this client knows it by. Only the last update of each counts. */
function updated(session: Session, notice: Notice): OutboxItem {
  const uri = uriOf(notice);
  const subscription = uri === undefined ? undefined : subscriptionFor(session, notice.from, uri);
  if (uri === undefined || !subscription)
    return { ...item("updated", notice), ...(uri === undefined ? {} : { key: uri }) };
  const shown = subscription.shown + uri.slice(subscription.own.length);
  const told = shown === uri ? notice.payload : notice.payload.splice(["uri"], jsonText(shown));
  return { type: "updated", key: shown, text: notificationText(notice.method, told) };
}

function uriOf(notice: Notice): string | undefined {
  if ("resource" in notice.to) return notice.to.resource;
  return decodeString(notice.payload.at(["uri"]));
}
