/**
 * A two-way line of messages with one session behind it: a pair of pipes, or the stream and POSTs of 2024.
 * Everything goes out on the one line, in order; there is nothing to come back to when it is lost.
 */
import type { Principal } from "../../contract/index.ts";
import type { OutboxWriter, Session } from "../../mechanisms/sessions/index.ts";
import { errorText, isBatch, type Message, MessageFault, skimBatch, skimMessage } from "../../wire/jsonrpc/index.ts";
import { ASSUMED_REVISION, revisionOf } from "../../wire/mcp/index.ts";
import { noteRefused } from "./calls.ts";
import { ephemeralSession } from "./ephemeral.ts";
import type { FrontContext } from "./front-context.ts";
import { initialize } from "./initialize.ts";
import type { ModernContext } from "./modern/modern-context.ts";
import { ModernLine } from "./modern/modern-line.ts";
import { takeAnswer, takeNotification } from "./notifications.ts";
import type { Outlet, OutletOwner } from "./outlet.ts";
import { handleRequest } from "./requests.ts";

export type ConnectionOptions = {
  /** Whose line it is. */
  readonly principal: Principal;
  readonly catalog: string;
  /** Where both eras share the line: requests of 2026-07-28 go here. */
  readonly modern?: ModernContext;
  /** Of the client, where the log is to name it. */
  readonly address?: string | undefined;
  /** Sends one message. False: the line is full; `drained` is to be called. */
  readonly write: (text: string) => boolean;
  /** The last answer that was waited for is out. */
  readonly onQuiet?: () => void;
  /** The session was ended, and with it what the line is for. Unset: the line goes on, as it was before `initialize`. */
  readonly onEnded?: () => void;
};

/** A message that came while `initialize` was being answered. */
type Held = { readonly message: Message; readonly principal: Principal };

/** Waits for room on the line. */
type Blocked = { resume(): void };

export class Connection implements OutboxWriter {
  readonly canReplay = false;
  readonly #front: FrontContext;
  readonly #options: ConnectionOptions;
  readonly #blocked = new Set<Blocked>();
  readonly #modernLine: ModernLine | undefined;
  #session: Session | undefined;
  #principal: Principal;
  #held: Held[] | undefined;
  #waiting = 0;
  #isClosed = false;

  constructor(front: FrontContext, options: ConnectionOptions) {
    this.#front = front;
    this.#options = options;
    this.#principal = options.principal;
    if (options.modern) this.#modernLine = new ModernLine(options.modern, options, this);
  }

  /** No answer is waited for. */
  get isQuiet(): boolean {
    return this.#waiting === 0;
  }

  get listener(): Principal {
    return this.#options.principal;
  }

  /** Whose line it is, as proved last. */
  get principal(): Principal {
    return this.#principal;
  }

  /** `principal`: who sent it, as proved with this very message, where messages prove that. */
  receive(text: string, principal = this.#principal): void {
    this.#principal = principal;
    if (isBatch(text)) this.#orRefuse(() => this.#batch(text));
    else this.#orRefuse(() => this.#take(skimMessage(text)));
  }

  #batch(text: string): void {
    if (revisionOf(this.#session?.protocol ?? "")?.hasBatches !== true) {
      throw new MessageFault(-32600, "Batches exist only in sessions of protocol version 2025-03-26");
    }
    for (const part of skimBatch(text)) this.#orRefuse(() => this.#take(skimMessage(part)));
  }

  #orRefuse(take: () => void): void {
    try {
      take();
    } catch (error) {
      if (!(error instanceof MessageFault)) throw error;
      const reason = error.code === -32700 ? "parse" : "message";
      this.#front.meter.count("isthmus_refused_total", reason);
      noteRefused(this.#front, { principal: this.#principal, address: this.#options.address }, reason, "");
      this.write(errorText(error.id, { code: error.code, message: error.message }));
    }
  }

  #take(message: Message): void {
    if (this.#isClosed) return;
    if (message.kind === "request") this.#waiting++;
    if (this.#held) this.#held.push({ message, principal: this.#principal });
    else this.#handle(message, this.#principal);
  }

  #handle(message: Message, principal: Principal): void {
    if (this.#modernLine?.take(message)) return;
    if (message.kind === "request" && message.method === "initialize") return this.#initialize(message, principal);
    this.end();
    if (this.#isClosed) return;
    const session = this.#sessionOf(principal);
    if (message.kind === "request") {
      const outlet = new LineOutlet(this);
      if (message.method !== "ping") this.#listen();
      const { address } = this.#options;
      const exchange = { session, principal, message, outlet };
      handleRequest(this.#front, address === undefined ? exchange : { ...exchange, address });
    } else if (message.kind === "response") takeAnswer(this.#front, { session, principal, message });
    else {
      this.#listen();
      takeNotification(this.#front, { session, principal, message, address: this.#options.address });
    }
  }

  #sessionOf(principal: Principal): Session {
    const session = this.#session;
    if (!session) return ephemeralSession(this.#front, principal, this.#options.catalog, ASSUMED_REVISION.version);
    if (session.principal !== principal) session.principal = principal;
    return session;
  }

  /** From its first word after `initialize` on, the client can be spoken to. */
  #listen(): void {
    if (!this.#session) return;
    const outbox = this.#front.sessions.outboxOf(this.#session);
    if (!outbox.isOpen) outbox.open(this);
  }

  #initialize(message: Message, principal: Principal): void {
    this.#held = [];
    initialize(this.#front, { principal, catalog: this.#options.catalog }, message, new LineOutlet(this))
      .catch((cause) => {
        this.#front.log.error("initialize failed inside the gateway", { cause });
        this.answered(errorText(message.id, { code: -32603, message: "The gateway failed." }));
      })
      .finally(() => this.#release());
  }

  /** Handles what was held back, up to another `initialize`. */
  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    while (held.length > 0 && !this.#held) {
      const { message, principal } = held.shift() as Held;
      this.#handle(message, principal);
    }
    if (held.length > 0) this.#held = held;
  }

  /** A second `initialize` on the same line starts over. */
  opened(session: Session): void {
    const former = this.#session;
    this.#session = session;
    if (former) this.#front.sessions.end(former, "the client initialized again");
    if (this.#isClosed) this.#front.sessions.end(session);
    else this.end();
  }

  write(text: string): boolean {
    return this.#isClosed || this.#options.write(text);
  }

  send(text: string, reader: Blocked | undefined): boolean {
    const hasRoom = this.write(text);
    if (!hasRoom && reader) this.#blocked.add(reader);
    return hasRoom;
  }

  /** A request is answered, or (undefined) will not be. */
  answered(text: string | undefined): void {
    if (text !== undefined) this.write(text);
    this.#waiting--;
    if (this.#waiting === 0) this.#options.onQuiet?.();
  }

  drained(): void {
    this.#session?.outbox?.resume(this);
    for (const reader of [...this.#blocked]) {
      this.#blocked.delete(reader);
      reader.resume();
    }
  }

  /** If the session is over, the line goes on without one, or is over, too. */
  end(): void {
    if (this.#session?.isEnded !== true) return;
    this.#session = undefined;
    this.#options.onEnded?.();
  }

  /** The client says no more: what would go on for ever ends. */
  hangUp(): void {
    this.#modernLine?.endListeners();
  }

  /** The line is gone, and the session with it. Safe to call twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#modernLine?.close();
    if (this.#session) this.#front.sessions.end(this.#session, "the connection was closed");
  }
}

/** One request's share of the line. */
class LineOutlet implements Outlet {
  readonly canStream = true;
  readonly isKept = false;
  readonly namesSession = false;
  readonly #connection: Connection;
  #owner: OutletOwner | undefined;
  #isOver = false;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  opened(session: Session): void {
    this.#connection.opened(session);
  }

  bind(owner: OutletOwner): void {
    this.#owner = owner;
  }

  send(text: string): boolean {
    return this.#isOver || this.#connection.send(text, this.#owner);
  }

  answer(text: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection.answered(text);
  }

  answerParts(head: string, body: Buffer, tail: string): void {
    this.answer(head + body.toString("latin1") + tail);
  }

  release(): boolean {
    return false;
  }

  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection.answered(undefined);
  }
}
