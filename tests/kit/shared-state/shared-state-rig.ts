import type { SharedState } from "../../../src/contract/index.ts";

/** What the contract suite needs of an implementation, to try it as two processes would use it. */
export type SharedStateRig = {
  /** Two handles on one store; the same one twice where the store belongs to one process. */
  readonly here: SharedState;
  readonly there: SharedState;
  /** Lets this much time pass on the store's clock. */
  elapse(ms: number): Promise<void>;
  /** Sets the store's clock forward, or back, as far as buckets are concerned. */
  jump(ms: number): Promise<void>;
  close(): Promise<void>;
};

export type StartRig = () => Promise<SharedStateRig>;

/** Long enough never to end while a test runs. */
export const LONG_MS = 600_000;
/** Short enough to wait for. What a test says of it, it says after its end. */
export const SHORT_MS = 120;

let made = 0;

/** A name that no other test has. */
export function fresh(what: string): string {
  made += 1;
  return `${what}-${process.pid}-${made}`;
}

/** A new member with a lease that does not end by itself. */
export async function joinMember(state: SharedState, address = "10.0.0.1:7070"): Promise<string> {
  const id = fresh("member");
  await state.members.join({ id, address }, LONG_MS);
  return id;
}
