/**
 * One client connection: its requests are answered one after the other, in their order. Time is counted in ticks of the
 * listener, so that no request needs a clock or a timer.
 */
import type { Socket } from "node:net";
import type { BodyTaker, HttpPeer } from "../../contract/index.ts";
import { CONTINUE, faultText } from "./answer-text.ts";
import type { ConnectionHost } from "./connection-host.ts";
import { Exchange, type ExchangeOwner } from "./exchange.ts";
import { HeldBytes } from "./held-bytes.ts";
import { type Occupant, TOO_MANY, type Use } from "./making-room.ts";
import { peerOf } from "./peer.ts";
import { RequestFault } from "./request-fault.ts";
import type { RequestHead } from "./request-head.ts";
import { RequestReader } from "./request-reader.ts";
import type { WaitingClient } from "./request-turns.ts";
import { readShared } from "./shared-buffer.ts";
import type { Unfinished } from "./unfinished.ts";
import type { Unread } from "./unread.ts";

/** What may be read beyond the present request, and what is read of an unwanted body to save the connection. */
const MAX_AHEAD = 64 * 1024;
const NO_ROOM = "the gateway holds too much of other messages; try again";
/** A read of TLS is one record, and nobody tells how many of them come in a turn: every so many reads, a request waits. */
const READS_OF_TURN = 8;
/** So many bytes of a body earn it another second. */
const BODY_RATE = 16 * 1024;

// Invariants:
//  1. `#exchange` is set from the end of a request's head to the end of its answer, or until the client is gone.
//  2. The reader is busy exactly while there is an exchange or `#isHeld`.
//  3. Once `#isClosing`, nothing more is written and whatever comes is dropped.
export class HttpConnection implements ExchangeOwner, Unread, Unfinished, WaitingClient, Occupant {
  readonly #socket: Socket;
  readonly #host: ConnectionHost;
  readonly #reader: RequestReader;
  readonly #held: HeldBytes;
  #exchange: Exchange | undefined;
  #peer: HttpPeer | undefined;
  #owesContinue = false;
  #keeps = true;
  #isPaused = false;
  #isPeerDone = false;
  /** Answered, but the next request waits until the client has taken some of that. */
  #isHeld = false;
  #isClosing = false;
  #reads = 0;
  #since: number;
  /** When the head of the present request was whole. */
  #askedAt = 0;

  constructor(socket: Socket, host: ConnectionHost) {
    this.#socket = socket;
    this.#host = host;
    this.#held = new HeldBytes(this, host);
    this.#reader = new RequestReader(
      (head) => this.#onHead(head),
      (taker, text) => this.#onLateBody(taker, text),
    );
    this.#since = host.tick;
    readShared(socket, (text) => this.#onData(text));
    socket.on("data", (bytes: Buffer) => {
      if (++this.#reads % READS_OF_TURN === 0) this.#reader.spendTurn();
      this.#onData(bytes.toString("latin1"));
    });
    socket.on("end", () => this.#onPeerDone());
    socket.on("drain", () => this.#onDrain());
    socket.on("error", () => {}); // "close" follows and says all that matters
    socket.on("close", () => this.#onGone());
    socket.on("timeout", () => socket.destroy());
  }

  get dateLine(): string {
    return this.#host.dateLine;
  }

  /** Found out when it is asked for: where everybody is the local user, nobody does. */
  get peer(): HttpPeer {
    this.#peer ??= peerOf(this.#socket);
    return this.#peer;
  }

  clientAddress(headers: RequestHead["headers"]): string | undefined {
    const { remoteAddress } = this.#socket;
    return remoteAddress === undefined ? undefined : this.#host.clientAddress(remoteAddress, headers);
  }

  get #isBusy(): boolean {
    return this.#exchange !== undefined || this.#isHeld;
  }

  // Requests

  #onData(text: string): void {
    if (this.#isClosing || this.#isMuted()) return;
    // The time of a head runs from its first byte, that of the rest of a body from the last one, but for what nobody wants of it.
    if (this.#isBusy || this.#reader.isIdle) this.#since = this.#host.tick;
    this.#reader.add(text);
    this.#readOn();
  }

  #readOn(): void {
    try {
      if (!this.#reader.pump()) return;
    } catch (error) {
      this.#fail(error);
    }
    if (this.#isClosing) return;
    if (!this.#held.set(this.#reader.heldBytes)) return this.giveWay();
    const { isWaiting } = this.#reader;
    const isFull = isWaiting || this.#reader.ahead > MAX_AHEAD;
    if (isFull !== this.#isPaused) this.#setPaused(isFull);
    if (isWaiting) return this.#host.turns.wait(this);
    if (!this.#isBusy && (this.#isPeerDone || this.#reader.skipped > MAX_AHEAD)) this.#close();
    // After the client's last byte, a body that is not whole never will be.
    else if (this.#isPeerDone && this.#reader.isInBody) this.destroy();
  }

  takeTurn(): void {
    if (this.#isClosing || this.#isMuted()) return;
    this.#reader.renewTurn();
    this.#readOn();
  }

  get peerAddress(): string {
    return this.#socket.remoteAddress ?? "";
  }

  giveWay(): void {
    this.refuse(new RequestFault(503, NO_ROOM));
  }

  #onHead(head: RequestHead): void {
    this.#owesContinue = head.expectsContinue;
    this.#keeps = head.keepsAlive;
    this.#askedAt = this.#host.tick;
    const exchange = new Exchange(this, head);
    this.#exchange = exchange;
    this.#host.onRequest(exchange);
  }

  readBody(maxBytes: number, taker: BodyTaker): void {
    this.#since = this.#host.tick;
    if (!this.#hasRoomFor(maxBytes)) return;
    if (!this.#reader.readBody(maxBytes, taker)) return;
    // A client that has begun to send the body does not wait any more.
    if (this.#owesContinue && this.#reader.ahead === 0) this.send(CONTINUE);
    this.#owesContinue = false;
    this.#readOn();
  }

  /** A body whose length is known is refused before it is read; one that is here belongs to the exchange from now on. */
  #hasRoomFor(maxBytes: number): boolean {
    const { bodyLength, hasWholeBody } = this.#reader;
    const exchange = this.#exchange;
    this.#held.askedBy(exchange);
    if (!exchange || bodyLength > maxBytes) return true;
    if (!this.#held.makeRoom(bodyLength)) {
      this.#host.onNoRoom(exchange);
      return false;
    }
    if (hasWholeBody) this.#held.give(exchange, bodyLength);
    return true;
  }

  #onLateBody(taker: BodyTaker, text: string): void {
    // There was room for it when it came.
    this.#held.clear();
    const exchange = this.#exchange;
    if (!exchange) return;
    this.#held.give(exchange, text.length);
    this.#host.onLateBody(exchange, () => taker.onBody(text));
  }

  discardBody(): void {
    if (!this.#reader.hasRest) return;
    if (this.#owesContinue) this.#keeps = false; // nobody knows whether the body will come
    this.#since = this.#host.tick;
    this.#reader.skipBody();
    this.#readOn();
  }

  // Answers

  settleKeeping(hasVisibleEnd: boolean): boolean {
    if (this.#reader.hasRest && (this.#owesContinue || this.#reader.missing > MAX_AHEAD)) this.#keeps = false;
    if (!hasVisibleEnd || this.#reader.isTooLarge || this.#host.isDraining) this.#keeps = false;
    return this.#keeps;
  }

  send(text: string): boolean {
    if (this.#isClosing || this.#isMuted() || this.#isOverfull()) return true;
    const hasRoom = this.#socket.write(text, "latin1");
    if (!hasRoom) this.#host.unread.grew(this);
    return hasRoom;
  }

  sendParts(head: string, body: Buffer, tail: string): void {
    if (this.#isClosing || this.#isMuted() || this.#isOverfull()) return;
    this.#socket.cork();
    this.#socket.write(head, "latin1");
    this.#socket.write(body);
    const hasRoom = this.#socket.write(tail, "latin1");
    this.#socket.uncork();
    if (!hasRoom) this.#host.unread.grew(this);
  }

  get unreadBytes(): number {
    return this.#socket.writableLength;
  }

  get sentBytes(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }

  #stopReading(): void {
    this.#reader.stop();
    this.#held.clear();
  }

  cutUnread(): void {
    this.#isClosing = true;
    this.#stopReading();
    this.#host.onUnread(this.#socket.remoteAddress);
    this.destroy();
  }

  #isOverfull(): boolean {
    if (this.#socket.writableLength <= this.#host.unread.limits.eachBytes) return false;
    this.cutUnread();
    return true;
  }

  /** Who asks for much and reads nothing gets one answer more than fits, and not all of them. */
  finish(): void {
    this.#exchange = undefined;
    if (!this.#keeps) this.#close();
    else if (this.#socket.writableNeedDrain) this.#isHeld = true;
    else this.#next();
  }

  #onDrain(): void {
    this.#host.unread.caughtUp(this);
    if (!this.#isHeld) return this.#guard(() => this.#exchange?.onDrain?.());
    this.#isHeld = false;
    this.#next();
  }

  #next(): void {
    this.#since = this.#host.tick;
    this.#held.clear();
    this.#held.askedBy(undefined);
    this.#reader.next();
    if (!this.#reader.isIdle || this.#isPeerDone) this.#readOn();
    else if (this.#host.closesIdle) this.#close();
  }

  // Ends

  /**
   * Asked wherever bytes come in or leave: after a process was stopped and goes on, what its sockets hold is read before
   * any timer fires. A connection that must not speak is destroyed, without even a goodbye.
   */
  #isMuted(): boolean {
    const { mayWrite } = this.#host;
    if (mayWrite === undefined || mayWrite()) return false;
    this.#isClosing = true;
    this.#stopReading();
    this.#socket.destroy();
    return true;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  get use(): Use {
    if (this.#exchange) return this.#reader.lacksBody && !this.#exchange.isOpen ? "stalled" : "busy";
    const hasRead = this.#isClosing ? this.#socket.writableFinished : this.#socket.writableLength === 0;
    return hasRead && !this.#reader.isWaiting ? "idle" : "stalled";
  }

  get since(): number {
    return this.use === "busy" ? this.#askedAt : this.#since;
  }

  get exchange(): Exchange | undefined {
    return this.#exchange;
  }

  /** There are too many connections: whoever waits for an answer is told so, as far as it can be. */
  leavePlace(): void {
    if (this.#exchange && !this.#exchange.isOpen) this.refuse(new RequestFault(503, TOO_MANY));
    this.destroy();
  }

  /** Says goodbye to a client that waits for nothing. */
  closeIdle(): void {
    if (this.#reader.isIdle) this.#close();
  }

  /**
   * Nothing more is answered. What the client still sends is read and dropped for a while: closing on unread bytes
   * would reset the connection, and with it the answer that the client may not have read.
   */
  #close(): void {
    if (this.#isClosing || this.#isMuted()) return;
    this.#isClosing = true;
    this.#stopReading();
    this.#since = this.#host.tick;
    this.#socket.end();
    if (this.#isPaused) this.#setPaused(false);
  }

  /** Closes, and says why where the client waits for an answer: an answer that nobody waits for is worse than none. */
  refuse(fault: RequestFault): void {
    if (this.#isClosing) return;
    const exchange = this.#exchange;
    this.#exchange = undefined;
    const isAnswered = exchange === undefined && this.#reader.hasRest;
    this.#host.onRefused(fault.status, this.#socket.remoteAddress);
    if (exchange?.isOpen) this.destroy();
    else if (!isAnswered) this.send(faultText(fault.status, fault.message, exchange?.extraLines));
    this.#close();
    this.#guard(() => exchange?.leave());
  }

  #fail(error: unknown): void {
    if (error instanceof RequestFault) return this.refuse(error);
    if (this.#exchange) this.refuse(new RequestFault(500, "internal error"));
    else this.#close();
    this.#host.onError(error);
  }

  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * A client that has sent all it wants may still wait for its answer. One that listens to a stream would not end its
   * side: that is how it says that it leaves. So it is where somebody waits to hear of that before the answer begins.
   */
  #onPeerDone(): void {
    this.#isPeerDone = true;
    if (this.#isClosing || this.#reader.isWaiting) return;
    if (!this.#isBusy) this.#close();
    else if (this.#exchange?.isOpen || this.#exchange?.onClose || this.#reader.isInBody) this.destroy();
  }

  #onGone(): void {
    this.#isClosing = true;
    this.#stopReading();
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#host.unread.caughtUp(this);
    this.#host.turns.leave(this);
    this.#host.onGone(this);
    this.#guard(() => exchange?.leave());
  }

  #setPaused(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) this.#socket.pause();
    else this.#socket.resume();
  }

  // Time

  /** Once per tick: has this client taken too long? */
  check(): void {
    const { head, body, idle, linger } = this.#host.limits;
    const age = this.#host.tick - this.#since;
    this.#watchWrites();
    if (this.#isClosing) {
      if (!this.#socket.writableFinished) this.#since = this.#host.tick;
      else if (age > linger) this.destroy();
    } else if (this.#reader.isInBody) {
      if (age > body || this.#isBodyTooSlow()) this.refuse(new RequestFault(408, "the body took too long"));
    } else if (this.#reader.isInHead) {
      if (age > head) this.refuse(new RequestFault(408, "the head took too long"));
    } else if (this.#reader.isIdle && age > idle && this.#socket.writableLength === 0) this.#close();
  }

  /** Byte by byte a body could take for ever, and whoever sends it may not be who it was. */
  #isBodyTooSlow(): boolean {
    const earned = this.#reader.bodyBytes / BODY_RATE;
    return this.#host.tick - this.#askedAt > this.#host.limits.wholeBody + earned;
  }

  /** The socket's own timer sees whether a large write makes progress, and is set only while one is under way. */
  #watchWrites(): void {
    const isStalled = this.#socket.writableLength > 0;
    if (isStalled === (this.#socket.timeout ?? 0) > 0) return;
    this.#socket.setTimeout(isStalled ? this.#host.limits.stalledWriteMs : 0);
  }
}
