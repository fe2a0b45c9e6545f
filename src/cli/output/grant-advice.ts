/** What to do where callers are known, and nothing was granted to any of them. */
import { PROGRAM } from "../program-name.ts";

export type GrantExample = {
  /** Who is to use something, where that is known. */
  readonly user?: string | undefined;
  /** A server of the config. */
  readonly server?: string | undefined;
  /** Whether whoever reads it can do it; unset: they can. */
  readonly mayGrant?: boolean;
};

export const NOTHING_GRANTED = "callers are asked who they are, and nothing was granted to any of them";

/** For a person, to be typed or written as it stands. */
export function grantLines({ user = "USER", server = "SERVER", mayGrant = true }: GrantExample): string[] {
  const whom = user === "USER" ? "the user of a token" : user;
  return [
    `Nobody may use anything: ${NOTHING_GRANTED}.`,
    mayGrant ? `To let ${whom} use ${server}:` : `An admin of the gateway can let ${whom} use ${server}:`,
    `  ${PROGRAM} grant ${user} ${server}`,
    "or in isthmus.toml:",
    "  [[access.grants]]",
    `  agent = ${JSON.stringify(user)}`,
    `  server = ${JSON.stringify(server)}`,
    "To let everybody who is known use everything:",
    "  [access]",
    '  defaultPolicy = "opt-out"',
  ];
}

/** For a caller to whom nothing is offered: a role lets nobody use anything, and they may not see whether it is a grant that is missing. */
export function askForGrantLines({ user = "USER", server = "SERVER", mayGrant = false }: GrantExample): string[] {
  const who = mayGrant ? "You see" : "An admin of the gateway sees";
  return [
    `You are ${user}, and may use nothing that is offered now. ${who} what is switched off ("${PROGRAM} status"); where it is a grant that is missing:`,
    `  ${PROGRAM} grant ${user} ${server}`,
  ];
}

/** The same in one sentence. */
export function grantAdvice({ user = "USER", server = "SERVER" }: GrantExample): string {
  const lines = `[[access.grants]] with agent = ${JSON.stringify(user)} and server = ${JSON.stringify(server)}`;
  return `"${PROGRAM} grant ${user} ${server}", or ${lines} in isthmus.toml; [access] defaultPolicy = "opt-out" lets everybody who is known use everything`;
}
