/** Streams of `subscriptions/listen`. They end when the client closes them. */
import { rpcError } from "../offers/call.ts";
import { findResource } from "../offers/resources.ts";
import type { Json } from "../sdk.ts";
import { isObject, META, type Request } from "./protocol.ts";

type Send = (message: Json) => void;

type Listener = { readonly filter: Json; notify(method: string, params?: Json): void };

const listeners = new Set<Listener>();

/** Acknowledges, and stays until the signal aborts. `mayWatch` tells which tasks the client may hear of. */
export async function listen(
  { id, params }: Request,
  { send, signal }: { send: Send; readonly signal: AbortSignal },
  mayWatch: (taskId: unknown) => boolean,
): Promise<void> {
  if (!isObject(params.notifications)) throw rpcError(-32602, "Invalid params: notifications is missing");
  const { taskIds, ...others } = params.notifications;
  const watched = Array.isArray(taskIds) ? taskIds.filter(mayWatch) : [];
  const filter = { ...honoured(others), ...(watched.length > 0 ? { taskIds: watched } : {}) };
  const listener: Listener = {
    filter,
    notify(method, given) {
      send({ jsonrpc: "2.0", method, params: { ...given, _meta: { [`${META}subscriptionId`]: id } } });
    },
  };
  listener.notify("notifications/subscriptions/acknowledged", { notifications: filter });
  listeners.add(listener);
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  listeners.delete(listener);
}

/** What we can tell of what was asked for. */
function honoured({ toolsListChanged, promptsListChanged, resourceSubscriptions }: Json): Json {
  const filter: Json = {};
  if (toolsListChanged === true) filter.toolsListChanged = true;
  if (promptsListChanged === true) filter.promptsListChanged = true;
  if (Array.isArray(resourceSubscriptions)) filter.resourceSubscriptions = resourceSubscriptions.filter(exists);
  return filter;
}

function exists(uri: string): boolean {
  try {
    return findResource(uri) !== undefined;
  } catch {
    return false;
  }
}

export async function announce(list: "tools" | "prompts"): Promise<void> {
  for (const { filter, notify } of listeners) {
    if (filter[`${list}ListChanged`] === true) notify(`notifications/${list}/list_changed`);
  }
}

/** Tells who listens for it what has become of a task. */
export function announceTask(taskId: string, detail: Json): void {
  for (const { filter, notify } of listeners) {
    if (Array.isArray(filter.taskIds) && filter.taskIds.includes(taskId)) notify("notifications/tasks", detail);
  }
}
