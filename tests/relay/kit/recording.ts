/**
 * What a recording server shows to tests, over HTTP and over a pipe alike. It is made of nothing but sockets and
 * strings: no SDK, so that what is recorded are the bytes of the gateway and nothing else. Texts hold one character
 * per byte.
 */
import { handshakeAnswer, isHandshakeNotice, type Offers, type Skimmed } from "./handshake.ts";
import { Inbox } from "./inbox.ts";

/** A message of the gateway that is not part of the handshake. */
export type Received = {
  readonly text: string;
  /** As JSON.parse reads it. */
  readonly message: Record<string, unknown>;
  /** A message before the answer, on this request's own stream where streams are apart. */
  send(text: string): void;
  /** The answer; nothing follows it. */
  answer(text: string): void;
};

export interface Upstream {
  readonly received: Inbox<Received>;
  /** The `[[servers]]` lines that say how the gateway reaches it. */
  readonly address: string;
  /** Says something outside any request, to the session that was opened last. */
  say(text: string): void;
  close(): Promise<void>;
}

export type Way = Pick<Received, "send" | "answer">;

/** Takes the handshake out of what came; hands the rest to the test. */
export class Recorder {
  readonly received = new Inbox<Received>("a message for the server behind the gateway");
  readonly #offers: Offers;
  readonly #onReceived: (received: Received) => void;

  /** `onReceived`: takes messages at once, in place of the inbox. */
  constructor(offers: Offers, onReceived?: (received: Received) => void) {
    this.#offers = offers;
    this.#onReceived = onReceived ?? ((received) => this.received.push(received));
  }

  take(text: string, way: Way): void {
    const message = parsed(text);
    const answer = handshakeAnswer(message as Skimmed, this.#offers);
    if (answer !== undefined) way.answer(Buffer.from(answer).toString("latin1"));
    else if (!isHandshakeNotice(message as Skimmed)) this.#onReceived({ text, message, ...way });
  }
}

/** What is not JSON is recorded like everything else: that it came at all is what a test wants to know. */
export function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(text, "latin1").toString("utf8")) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** A tool, prompt, resource or template as a list shows it. */
export const offer = {
  tool: (name: string) => JSON.stringify({ name, inputSchema: { type: "object" } }),
  prompt: (name: string) => JSON.stringify({ name }),
  resource: (uri: string) => JSON.stringify({ uri, name: uri }),
  template: (uriTemplate: string) => JSON.stringify({ uriTemplate, name: uriTemplate }),
};
