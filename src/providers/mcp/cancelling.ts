/** Tells a server that nobody waits for the answer to a call any more, and waits whether it is through with it. */
import { type CallReply, jsonText, membersAt, type Payload, payload, type Timer } from "../../contract/index.ts";
import { type Message, notificationText } from "../../wire/jsonrpc/index.ts";
import { cancelTask } from "./tasks/driven-task.ts";
import { taskIdOf } from "./tasks/task-state.ts";
import type { RequestStream, UpstreamFailure } from "./transport.ts";
import type { UpstreamSession } from "./upstream-session.ts";

/** How long it is waited for its last word where the kernel does not say so. */
const HOLD_MS = 5_000;

/** Of what a caller says beside the id of its request, in bytes, and of its reason, in characters. */
const MAX_WORDS = 4 * 1024;
const MAX_REASON = 512;

type Cancel = CallReply & { readonly type: "cancel" };

type LastWordOptions = {
  /** Of the request. */
  readonly id: string;
  readonly stream: RequestStream | undefined;
  readonly holdMs: number | undefined;
  /** The server was to make a task of it, of which we have not heard yet: only a task that is known can be cancelled. */
  readonly isTask: boolean;
  /** It is known that the server does not work on it any more, or it has been waited for long enough. */
  readonly onOver: () => void;
};

/**
 * What is still awaited of a call that was cancelled. Most servers answer it no more, and one whose stream had to be closed
 * cannot: whether they still work on it is not known then.
 */
export class LastWord {
  readonly #session: UpstreamSession;
  readonly #options: LastWordOptions;
  readonly #timer: Timer;

  constructor(session: UpstreamSession, options: LastWordOptions) {
    const { id, stream, holdMs = HOLD_MS, onOver } = options;
    this.#session = session;
    this.#options = options;
    this.#timer = session.context.timers.after(holdMs, () => {
      session.forget(id);
      stream?.abort();
      onOver();
    });
    if (this.isStanding) session.leave(id);
  }

  /** The session need not stay open for it. */
  get isStanding(): boolean {
    return !this.#options.isTask;
  }

  /** The server is through with it, or has made the task that is to be cancelled. Throws JsonFault. */
  onAnswer({ members }: Message): void {
    this.stop();
    const { isTask, onOver } = this.#options;
    const { meter, provider } = this.#session.context;
    const task = isTask ? taskIdOf(membersAt(members?.textOf("task") ?? "", 0)) : undefined;
    if (task !== undefined) return void cancelTask(this.#session, task).then(onOver);
    meter.count("isthmus_events_late_total", provider);
    onOver();
  }

  onFailure({ kind }: UpstreamFailure): void {
    // What was sent and lost may be worked on, unless whoever did is gone.
    if (kind === "lost" && !this.#session.isLost) return;
    this.stop();
    this.#options.onOver();
  }

  stop(): void {
    this.#timer.cancel();
  }
}

/** Says so to the server. `id`: that of the request. */
export function cancelRequest(
  session: UpstreamSession,
  id: string,
  stream: RequestStream | undefined,
  { reason, payload: words }: Cancel,
): void {
  const own = () => payload(`{"requestId":${id}${reason === undefined ? "" : `,"reason":${shortReason(reason)}`}}`);
  if (!session.modern) {
    void session.send(notificationText("notifications/cancelled", words ? shortWords(words, id, reason) : own()));
  }
  // In 2026-07-28 closing the stream is the cancel; where there are no streams, it is said.
  else if (session.transport.hasStreams) stream?.abort();
  else void session.modern.notify("notifications/cancelled", own());
}

/** What is small goes on as it came. Of what is not, what is small: a caller shall not fill the pipe of all with its cancels. */
function shortWords(words: Payload, id: string, reason: string | undefined): Payload {
  if (words.text.length <= MAX_WORDS) return words.splice(["requestId"], id);
  const members = membersAt(words.text, 0);
  let room = MAX_WORDS;
  const kept: string[] = [];
  for (const [index, key] of (members?.keys ?? []).entries()) {
    const isReason = key === "reason" && reason !== undefined;
    const text = key === "requestId" ? id : isReason ? shortReason(reason) : (members?.textAt(index) ?? "");
    const isOurs = key === "requestId" || isReason;
    const length = key.length + text.length;
    if (!isOurs && length > room) continue;
    room -= length;
    kept.push(`"${key}":${text}`);
  }
  return payload(`{${kept.join(",")}}`);
}

function shortReason(reason: string): string {
  return jsonText(reason.slice(0, MAX_REASON).toWellFormed());
}
