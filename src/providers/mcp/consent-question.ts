/** Asks whoever made a call to open a page, and goes on with the call when somebody has said yes there. */
import { randomUUID } from "node:crypto";
import {
  type Answer,
  type Call,
  type Clock,
  type CredentialHolder,
  decodeString,
  GatewayError,
  jsonText,
  type Payload,
  payload,
  type Timer,
  type Timers,
  type UpstreamCredentials,
} from "../../contract/index.ts";
import type { RunningCall } from "./running-call.ts";

const URL_ELICITATION_REQUIRED = -32042;
/** How long the page may take when the call's own time does not say. */
const MIN_PATIENCE_MS = 30_000;
const RESERVE_MS = 1000;
/** A server that goes on refusing what was granted is not asked about for ever. */
const MAX_ROUNDS = 2;

export type ConsentSurroundings = {
  readonly credentials: UpstreamCredentials;
  readonly holder: CredentialHolder;
  readonly timers: Timers;
  readonly clock: Clock;
};

/** Whether a failed call can be helped by somebody's consent. */
export function isConsentRequired(error: unknown): error is GatewayError {
  return GatewayError.is(error) && error.code === "CONSENT_REQUIRED";
}

/** Whether the client has said that it shows its user pages to open. */
function opensPages({ session }: Call): boolean {
  return session?.capabilities.at(["elicitation", "url"]) !== undefined;
}

export class ConsentQuestion {
  readonly #running: RunningCall;
  readonly #surroundings: ConsentSurroundings;
  #key: string | undefined;
  #id = "";
  #error: GatewayError | undefined;
  #again: () => void = () => undefined;
  #isGranted = false;
  #isAccepted = false;
  #rounds = 0;
  #timer: Timer | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(running: RunningCall, surroundings: ConsentSurroundings) {
    this.#running = running;
    this.#surroundings = surroundings;
  }

  /** `again`: makes the call once more. */
  put(error: GatewayError, again: () => void): void {
    this.stop();
    if (this.#rounds++ >= MAX_ROUNDS || !opensPages(this.#running.call)) return this.#running.fail(error);
    const { credentials, holder } = this.#surroundings;
    this.#error = error;
    this.#again = again;
    this.#isGranted = false;
    this.#isAccepted = false;
    this.#id = randomUUID();
    this.#unsubscribe = credentials.onGranted((isFor) => {
      if (isFor(holder)) this.#onGranted();
    });
    this.#key = this.#running.takeKey(undefined);
    const input = payload(jsonText({ mode: "url", ...this.#page(error) }));
    this.#running.write({
      type: "ask",
      asks: [{ key: this.#key, kind: "elicit", method: "elicitation/create", input }],
    });
  }

  #page({ details }: GatewayError): object {
    const message = `Sign in to let ${String(details.server)} be used on your behalf.`;
    return { message, elicitationId: this.#id, url: details.url };
  }

  onAnswer({ key, outcome, payload: body }: Answer): void {
    const error = this.#error;
    if (key !== this.#key || !error) return;
    this.#key = undefined;
    if (outcome === "fault") this.#running.endWith(this.#fault(error), "fault");
    else if (decodeString(body.at(["action"])) === "accept") this.#wait();
    else {
      this.stop();
      this.#running.fail(new GatewayError("NOT_ALLOWED", { message: "The page was not opened." }));
    }
  }

  #wait(): void {
    const { timers, clock } = this.#surroundings;
    this.#isAccepted = true;
    if (this.#isGranted) return this.#goOn();
    const left = this.#running.call.deadline - clock.now() - RESERVE_MS;
    this.#timer = timers.after(Math.max(MIN_PATIENCE_MS, left), () => {
      if (this.#error) this.#running.fail(this.#error);
    });
  }

  #onGranted(): void {
    this.#isGranted = true;
    if (this.#isAccepted) this.#goOn();
  }

  #goOn(): void {
    this.stop();
    const complete = payload(jsonText({ elicitationId: this.#id }));
    this.#running.write({ type: "notice", method: "notifications/elicitation/complete", payload: complete });
    this.#again();
  }

  /** For a client that cannot be asked here: it opens the page by itself, and calls again. */
  #fault(error: GatewayError): Payload {
    const elicitations = [{ mode: "url", ...this.#page(error) }];
    return payload(jsonText({ code: URL_ELICITATION_REQUIRED, message: error.message, data: { elicitations } }));
  }

  /** Safe to call twice. */
  stop(): void {
    this.#timer?.cancel();
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }
}
