/** What the parts of a call over several rounds know of each other. */
import type { Payload } from "../../../contract/index.ts";
import type { Session } from "../../../mechanisms/sessions/index.ts";
import type { Deferral } from "./deferral.ts";
import type { ModernOutlet } from "./exchange.ts";
import type { ModernError } from "./modern-errors.ts";
import type { OpenCall } from "./open-call.ts";

/** The exchange that a call is served on now. */
export type Here = {
  readonly outlet: ModernOutlet;
  readonly requestId: string;
  /** The client's own token of this round, as it spelled it. */
  readonly token: string | undefined;
  readonly logLevel: string | undefined;
};

/** What a call is about, as its client wrote it: the same in every round. */
export type About = {
  readonly method: string;
  readonly name: string;
  readonly isListed: boolean;
  /** Whether the method may be answered with questions. */
  readonly canAsk: boolean;
  /** JSON text of method, name and arguments. */
  readonly identity: string;
  /** The client takes a task for an answer. */
  readonly deferral?: Deferral;
};

/** Keeps calls between rounds. */
export interface RoundKeeper {
  /** False: as many calls of this principal wait as may. */
  mayWait(call: OpenCall): boolean;
  /** The call waits for its client from now on. Gives what the client must bring back. */
  suspend(call: OpenCall): string;
  forget(call: OpenCall): void;
  /** A server's own question, its state under our seal. */
  wrap(call: OpenCall, result: Payload): Payload;
  /** A server's error that asks for a visit to a page, as a question; undefined for any other error. */
  askToVisit(call: OpenCall, error: Payload): Payload | ModernError | undefined;
  /** A server says that a visit is over. */
  visited(session: Session, notice: Payload): void;
  /** What the caller gave as its roots last. */
  rootsOf(session: Session): Payload | undefined;
}
