/** What travels through browsers while somebody says yes: sealed, short-lived, and good for one holder and one server. */
import { randomBytes } from "node:crypto";
import { type CredentialHolder, type Identity, identityOf, type Keys } from "../../../contract/index.ts";
import type { OAuthClient } from "./client-auth.ts";

const TICKET_MS = 10 * 60_000;
const MAX_USED = 10_000;

/**
 * Whom a token will be for; that and no more of an identity is needed to keep it, and to find out whether they are still let in. Of
 * a token of the gateway's the hash is enough: its row says the rest.
 */
export type TicketHolder = Pick<Identity, "proof" | "tokenHash" | "twinHash"> & {
  readonly id: string;
  readonly tenant: string;
  readonly client: string;
  readonly user: string;
  readonly namedBy?: "tenant" | undefined;
  readonly session: string;
};

export type Ticket = {
  readonly server: string;
  readonly holder: TicketHolder;
  readonly scopes: readonly string[];
  readonly resourceMetadata?: string | undefined;
  readonly expiresAt: number;
};

/** All that is known when the browser comes back from the issuer. */
export type Passage = {
  readonly server: string;
  readonly holder: TicketHolder;
  readonly scopes: string;
  readonly resource: string;
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly revocationUrl?: string | undefined;
  readonly client: OAuthClient;
  readonly verifier: string;
  /** The issuer says in its answers who it is. */
  readonly hasIss: boolean;
  readonly nonce: string;
  readonly expiresAt: number;
};

export class Tickets {
  readonly #keys: Keys;
  readonly #now: () => number;
  readonly #used = new Map<string, number>();

  constructor(keys: Keys, now: () => number) {
    this.#keys = keys;
    this.#now = now;
  }

  sealTicket(ticket: Omit<Ticket, "expiresAt">): string {
    const text = JSON.stringify({ ...ticket, expiresAt: this.#now() + TICKET_MS });
    return this.#keys.seal("oauth ticket", ticket.server, text);
  }

  openTicket(server: string, sealed: string): Ticket | undefined {
    return this.#read<Ticket>(this.#keys.open("oauth ticket", server, sealed));
  }

  /** `browser`: what only the browser knows that began. */
  sealPassage(passage: Omit<Passage, "expiresAt" | "nonce">, browser: string): string {
    const nonce = randomBytes(12).toString("base64url");
    const text = JSON.stringify({ ...passage, nonce, expiresAt: this.#now() + TICKET_MS });
    return this.#keys.seal("oauth passage", browser, text);
  }

  /** Opens once, and only for the browser that began. */
  openPassage(sealed: string, browser: string): Passage | undefined {
    const passage = this.#read<Passage>(this.#keys.open("oauth passage", browser, sealed));
    if (!passage || this.#used.has(passage.nonce)) return undefined;
    this.#use(passage);
    return passage;
  }

  #use({ nonce, expiresAt }: Passage): void {
    for (const [used, until] of this.#used) {
      if (until > this.#now() && this.#used.size < MAX_USED) break;
      this.#used.delete(used);
    }
    this.#used.set(nonce, expiresAt);
  }

  /** What opens was sealed here, and is what it was. By an older version: it lacks what its holder is judged by. */
  #read<Type extends Ticket | Passage>(text: string | undefined): Type | undefined {
    const read = text === undefined ? undefined : (JSON.parse(text) as Type);
    const isKnown = (read?.holder as Partial<TicketHolder> | undefined)?.proof !== undefined;
    return read && isKnown && read.expiresAt > this.#now() ? read : undefined;
  }
}

export function ticketHolder({ principal, session }: CredentialHolder): TicketHolder {
  const { tenant, client, user, namedBy, proof, tokenHash, twinHash } = identityOf(principal);
  const hashes = { ...(tokenHash !== undefined && { tokenHash }), ...(twinHash !== undefined && { twinHash }) };
  return { id: principal.id, tenant, client, user, ...(namedBy && { namedBy }), proof, ...hashes, session };
}

/** As a holder that tokens can be kept for. */
export function holderOf({ id, session, ...named }: TicketHolder): CredentialHolder {
  const { namedBy, ...known } = named;
  const identity = { ...known, ...(namedBy && { namedBy }), groups: [], scopes: [], role: undefined };
  return { principal: { id, identity }, session };
}
