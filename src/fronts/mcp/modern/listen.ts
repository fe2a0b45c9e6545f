/** subscriptions/listen: a request that stays open, and on which the client hears what it asked to hear. */
import { jsonText, type Principal, type View } from "../../../contract/index.ts";
import type { KeptTask } from "../../../mechanisms/runs/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import { LIST_CHANGED } from "../../../wire/mcp/index.ts";
import { noteRefused, ownName } from "../calls.ts";
import type { FrontContext } from "../front-context.ts";
import type { Wanted } from "../subscribe-call.ts";
import { mayHear } from "../told-tasks.ts";
import { answerError, badParams } from "./calls.ts";
import type { ModernExchange } from "./exchange.ts";
import { Listener } from "./listener.ts";
import type { ModernContext } from "./modern-context.ts";

const MAX_SUBSCRIPTIONS = 1000;
const MAX_URI = 8192;
/** On record one by one; of the others, how many there are. */
const MAX_REFUSALS = 40;

/** Kinds of lists as a client asks for them. */
const KINDS: Readonly<Record<string, string>> = {
  toolsListChanged: LIST_CHANGED.tool,
  promptsListChanged: LIST_CHANGED.prompt,
  resourcesListChanged: LIST_CHANGED.resource,
};

/** Answered, at the latest, when the gateway stops. */
export function listen(context: ModernContext, exchange: ModernExchange, session: Session): void {
  const { front, listeners } = context;
  const asked = readAsked(exchange);
  if (!asked) return answerError(exchange, badParams("params.notifications must be an object that says what to hear"));
  if (!exchange.outlet.canStream) {
    return answerError(exchange, { status: 406, code: -32600, message: "Accept must name text/event-stream" });
  }
  // It was waited for, and ended meanwhile: an end that comes once has come.
  if (session.isEnded) return answerError(exchange, { status: 503, code: -32603, message: "Ended; ask again" });
  if (!listeners.hasRoomFor(exchange.principal)) {
    return answerError(exchange, { status: 503, code: -32603, message: "Too many open streams" });
  }
  const view = front.catalog.view(session.catalog, exchange.principal, session);
  const refusals = new Refusals(front, exchange);
  const wanted = asked.uris.flatMap((uri) => wantedOf(view, uri, refusals));
  refusals.end();
  if (!listeners.mayWant(session, exchange.principal, wanted)) {
    front.meter.count("isthmus_refused_total", "subscriptions full");
    const message =
      "This caller listens to as many resources as one may here: end other streams, or name fewer resources";
    return answerError(exchange, { status: 503, code: -32603, message });
  }
  const listener = new Listener(front, listeners, session, exchange);
  // The stream may last for days, and what was asked for is kept in other words.
  exchange.posted?.forgetBody();
  const accepted = wanted.map((one) => listeners.subscribe(listener, one));
  const acknowledge = (taken: readonly boolean[]) => {
    const uris = wanted.filter((_, at) => taken[at]).map(({ subscription }) => subscription.shown);
    const tasks = listener.watch(tasksOf(context, exchange, asked));
    const honoured = asked.kinds.map((kind) => `"${kind}":true`);
    if (uris.length > 0) honoured.push(`"resourceSubscriptions":${jsonText(uris)}`);
    if (tasks.length > 0) honoured.push(`"taskIds":${jsonText(tasks.map(({ id }) => id))}`);
    listener.acknowledge(`{${honoured.join(",")}}`, new Set(asked.kinds.map((kind) => KINDS[kind] as string)));
  };
  if (accepted.length === 0) acknowledge([]);
  else void Promise.all(accepted).then(acknowledge);
}

type Asked = {
  readonly kinds: readonly string[];
  readonly uris: readonly string[];
  readonly taskIds: readonly string[];
};

/** What is asked for in other words than these is left out of the acknowledgement. Throws JsonFault. */
function readAsked({ message, hasTasks }: ModernExchange): Asked | undefined {
  if (message.members?.textOf("notifications")?.startsWith("{") !== true) return undefined;
  const { notifications } = message.body.value() as { notifications: Record<string, unknown> };
  const kinds = Object.keys(KINDS).filter((kind) => notifications[kind] === true);
  const uris = namesIn(notifications.resourceSubscriptions);
  const taskIds = hasTasks ? namesIn(notifications.taskIds) : [];
  return uris && taskIds && { kinds, uris, taskIds };
}

/** Each name once; undefined for anything but a list of names, or for one that is too long. */
function namesIn(value: unknown = []): readonly string[] | undefined {
  if (!Array.isArray(value) || !value.every((name) => typeof name === "string" && name.length <= MAX_URI))
    return undefined;
  const names = [...new Set(value)];
  return names.length > MAX_SUBSCRIPTIONS ? undefined : names;
}

/** Those of the caller's own that it may hear of. */
function tasksOf({ front }: ModernContext, exchange: ModernExchange, { taskIds }: Asked): KeptTask[] {
  return taskIds.flatMap((id) => {
    const task = front.tasks.find(id, exchange.principal);
    return task && mayHear(front, exchange, task) ? [task] : [];
  });
}

/** Puts on record what of one request is turned away. It may name a thousand resources, and each line of the trail costs. */
class Refusals {
  readonly #front: FrontContext;
  readonly #exchange: ModernExchange;
  #count = 0;

  constructor(front: FrontContext, exchange: ModernExchange) {
    this.#front = front;
    this.#exchange = exchange;
  }

  /** Who asks, for what keeps a record of those that may not see it; undefined: of this request there is enough on record. */
  get by(): Principal | undefined {
    return this.#count < MAX_REFUSALS ? this.#exchange.principal : undefined;
  }

  note(uri: string): void {
    if (this.#count++ < MAX_REFUSALS) noteRefused(this.#front, this.#exchange, "name", uri);
  }

  /** Whoever names many that are not there hides none of them behind the others. */
  end(): void {
    const more = this.#count - MAX_REFUSALS;
    if (more > 0) noteRefused(this.#front, this.#exchange, "name", `${more} more resources`);
  }
}

/** Where the resource is, unless its server has no subscriptions. */
function wantedOf(view: View, uri: string, refusals: Refusals): Wanted[] {
  const entry = view.resolve("resource", uri, refusals.by);
  if (!entry) {
    refusals.note(uri);
    return [];
  }
  const about = view.providers.find(({ id }) => id === entry.target.provider)?.about;
  if (about && about.capabilities.at(["resources", "subscribe"]) !== "true") return [];
  const subscription = { provider: entry.target.provider, shown: uri, own: ownName(entry, uri) };
  return [{ entry, subscription }];
}
