/** What a client brings back to go on with a call: sealed, bound to its caller, its request and a time. */
import type { Keys, Principal } from "../../../contract/index.ts";

const PURPOSE = "mrtr";

/** h, m, g: a call that waits, in which process, and for which round. u: a server's own state. w: visits that a server wants first. d: the request's digest. x: end, in ms. */
export type RoundState =
  | WaitingState
  | { readonly v: 1; readonly w: readonly string[]; readonly d: string; readonly x: number }
  | { readonly v: 1; readonly u: string; readonly d: string; readonly x: number };

export type WaitingState = {
  readonly v: 1;
  readonly h: string;
  readonly m: string;
  readonly g: string;
  readonly d: string;
  readonly x: number;
};

export type StateOwner = { readonly catalog: string; readonly principal: Principal };

export function sealState(keys: Keys, owner: StateOwner, state: RoundState): string {
  return keys.seal(PURPOSE, ownerText(owner), JSON.stringify(state));
}

/** Undefined for what we did not seal for this owner, and for what has expired at `now`. */
export function openState(keys: Keys, owner: StateOwner, sealed: string, now: number): RoundState | undefined {
  const text = keys.open(PURPOSE, ownerText(owner), sealed);
  const state = text === undefined ? undefined : (JSON.parse(text) as RoundState);
  return state?.v === 1 && state.x > now ? state : undefined;
}

function ownerText({ catalog, principal }: StateOwner): string {
  return `${catalog}\0${principal.id}`;
}
