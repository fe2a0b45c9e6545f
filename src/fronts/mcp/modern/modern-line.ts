/** 2026-07-28 on a line that it shares with the era before: a message with an envelope is of this one. */
import type { Principal } from "../../../contract/index.ts";
import type { Message } from "../../../wire/jsonrpc/index.ts";
import { stripEnvelope } from "../../../wire/mcp/2026-07-28/index.ts";
import { reasonOf } from "../call-reader.ts";
import { hasEnvelope } from "./envelope-check.ts";
import type { ModernOutlet, OutletOwner } from "./exchange.ts";
import type { ModernContext } from "./modern-context.ts";
import { handleModern } from "./requests.ts";

/** The line, as far as this era needs it. */
export interface Line {
  /** False: it is full, and `blocked` is told when it is not any more. */
  send(text: string, blocked: { resume(): void } | undefined): boolean;
  /** A request is answered, or (undefined) will not be. */
  answered(text: string | undefined): void;
}

/** Whose line it is, and where it leads. */
type LineOwner = { readonly principal: Principal; readonly catalog: string };

export class ModernLine {
  readonly #context: ModernContext;
  readonly #owner: LineOwner;
  readonly #line: Line;
  readonly #open = new Map<string, LineOutlet>();

  constructor(context: ModernContext, { principal, catalog }: LineOwner, line: Line) {
    this.#context = context;
    this.#owner = { principal, catalog };
    this.#line = line;
  }

  /** False: the message is not of this era. */
  take(message: Message): boolean {
    if (message.kind === "notification" && message.method === "notifications/cancelled" && this.#cancel(message)) {
      return true;
    }
    if (message.kind === "response" || !hasEnvelope(message)) return false;
    if (message.kind === "notification") return true;
    const outlet = new LineOutlet(this.#line, message.method, () => {
      if (this.#open.get(message.id) === outlet) this.#open.delete(message.id);
    });
    this.#open.set(message.id, outlet);
    handleModern(this.#context, { ...this.#owner, message, headers: undefined, outlet });
    return true;
  }

  /** Ids are compared as they are spelled: 1 and "1" are two requests. */
  #cancel({ members, body }: Message): boolean {
    const outlet = this.#open.get(members?.textOf("requestId") ?? "");
    outlet?.owner?.cancel(reasonOf(members?.textOf("reason")), stripEnvelope(body));
    return outlet !== undefined;
  }

  /** Listening goes on for as long as anybody can hear. */
  endListeners(): void {
    for (const outlet of [...this.#open.values()]) {
      if (outlet.method === "subscriptions/listen") outlet.owner?.cancel("the client closed the line");
    }
  }

  close(): void {
    for (const outlet of [...this.#open.values()]) outlet.owner?.left();
  }
}

/** One request's share of the line. */
class LineOutlet implements ModernOutlet {
  readonly isOpen = false;
  readonly canStream = true;
  readonly method: string;
  owner: OutletOwner | undefined;
  readonly #line: Line;
  readonly #onOver: () => void;
  #isOver = false;

  constructor(line: Line, method: string, onOver: () => void) {
    this.#line = line;
    this.method = method;
    this.#onOver = onOver;
  }

  get isGone(): boolean {
    return this.#isOver;
  }

  bind(owner: OutletOwner): void {
    this.owner = owner;
  }

  send(text: string): boolean {
    return this.#isOver || this.#line.send(text, this.owner);
  }

  answer(text: string): void {
    this.#finish(text);
  }

  answerParts(head: string, body: Buffer, tail: string): void {
    this.#finish(head + body.toString("latin1") + tail);
  }

  drop(): void {
    this.#finish(undefined);
  }

  #finish(text: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onOver();
    this.#line.answered(text);
  }
}
