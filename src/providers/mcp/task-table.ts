/**
 * Tasks that a server runs for us. Towards clients a task bears the id of the call that made it, because the server's
 * own id is a key to the task and must not leave the gateway.
 */
import { decodeString, jsonText, type Payload, type Principal } from "../../contract/index.ts";
import { RELATED_TASK } from "../../wire/mcp/index.ts";

export type TaskEntry = {
  /** The gateway's id: that of the call which made the task. */
  readonly id: string;
  readonly upstreamId: string;
  readonly principal: string;
  /** On the clock of the provider, in ms. */
  readonly expiresAt: number;
  /** Our progress token of the call and the client's own: it stays valid as long as the task. */
  readonly token: { readonly ours: string; readonly theirs: string } | undefined;
};

const RELATED_PATH = ["_meta", RELATED_TASK, "taskId"] as const;

/** More than this and the oldest is forgotten: a server that makes tasks without end must not fill our memory. */
const MAX_TASKS = 10_000;

/** The tasks of one upstream session and of those that replaced it. */
export class TaskTable {
  readonly #byId = new Map<string, TaskEntry>();
  readonly #byUpstreamId = new Map<string, TaskEntry>();
  readonly #onAdd: (entry: TaskEntry) => void;
  readonly #onDrop: (entry: TaskEntry) => void;

  constructor(onAdd: (entry: TaskEntry) => void, onDrop: (entry: TaskEntry) => void) {
    this.#onAdd = onAdd;
    this.#onDrop = onDrop;
  }

  get size(): number {
    return this.#byId.size;
  }

  add(entry: TaskEntry): void {
    if (this.#byId.size >= MAX_TASKS) this.#dropOldest();
    this.#byId.set(entry.id, entry);
    this.#byUpstreamId.set(entry.upstreamId, entry);
    this.#onAdd(entry);
  }

  #dropOldest(): void {
    const [oldest] = this.#byId.values();
    if (oldest) this.#drop(oldest);
  }

  #drop(entry: TaskEntry): void {
    this.#byId.delete(entry.id);
    this.#byUpstreamId.delete(entry.upstreamId);
    this.#onDrop(entry);
  }

  find(id: string): TaskEntry | undefined {
    return this.#byId.get(id);
  }

  findUpstream(upstreamId: string): TaskEntry | undefined {
    return this.#byUpstreamId.get(upstreamId);
  }

  findToken(ours: string): TaskEntry | undefined {
    for (const entry of this.#byId.values()) if (entry.token?.ours === ours) return entry;
    return undefined;
  }

  /** Forgets what has expired. */
  sweep(now: number): void {
    for (const entry of this.#byId.values()) if (entry.expiresAt <= now) this.#drop(entry);
  }

  /** The task that a message of the server says it belongs to. */
  related(body: Payload): TaskEntry | undefined {
    if (!body.text.includes(RELATED_TASK)) return undefined;
    const upstreamId = decodeString(body.at(RELATED_PATH));
    return upstreamId === undefined ? undefined : this.#byUpstreamId.get(upstreamId);
  }

  /** A body of the server as clients may see it. */
  towardsClient(body: Payload): Payload {
    const entry = this.related(body);
    return entry ? body.splice(RELATED_PATH, jsonText(entry.id)) : body;
  }

  /** A body of this client as the server knows it. That it belongs to a task of somebody else, or to one that nobody here knows, is not said. */
  towardsServer(body: Payload, { id }: Principal): Payload {
    if (!body.text.includes(RELATED_TASK)) return body;
    const entry = this.#byId.get(decodeString(body.at(RELATED_PATH)) ?? "");
    if (entry?.principal !== id) return body.splice(RELATED_PATH.slice(0, -1));
    return body.splice(RELATED_PATH, jsonText(entry.upstreamId));
  }
}
