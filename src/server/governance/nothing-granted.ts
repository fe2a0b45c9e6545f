import { matchesPattern } from "../../contract/index.ts";
import {
  type AccessPolicy,
  keyOfName,
  type NameOfNothing,
  useOfBinding,
  useOfGrant,
} from "../../mechanisms/access/index.ts";
import { isAuthOn } from "../config/auth-config.ts";
import type { Config } from "../config/index.ts";

type Opening = Pick<AccessPolicy, "grants" | "bindings" | "rules" | "defaults">;

type Known = {
  /** The time of day in ms. */
  readonly now: number;
  /** What is said about these is about nothing, as far as servers have been asked. */
  readonly misnamed: readonly NameOfNothing[];
};

/**
 * Whether callers are asked who they are, and nothing lets any of them use anything: every list is empty, as it is right after
 * `[auth]` was written, or names what is not there.
 */
export function grantsNothing(
  { auth, servers }: Pick<Config, "auth" | "servers">,
  policy: Opening,
  { now, misnamed }: Known,
): boolean {
  const { grants, bindings, rules, defaults } = policy;
  const nothing = new Set(misnamed.map(keyOfName));
  // Without a word about it, everything is open to the local user.
  if (!isAuthOn(auth) || (auth.local && defaults.length === 0)) return false;
  const isGranted = grants.some((grant) => {
    const { permission, server, expiresAt = now + 1 } = grant;
    const isHere = servers.some(({ id }) => matchesPattern(server, id));
    return permission === "allow" && expiresAt > now && isHere && !nothing.has(keyOfName(useOfGrant(grant)));
  });
  const isBound = bindings.some((binding) => binding.allowed && !nothing.has(keyOfName(useOfBinding(binding))));
  // A rule that wants a yes opens nothing.
  const isRuled = rules.some(({ effect }) => effect === "allow");
  return !(isGranted || isBound || isRuled || defaults.some(({ policy: named }) => named === "opt-out"));
}
