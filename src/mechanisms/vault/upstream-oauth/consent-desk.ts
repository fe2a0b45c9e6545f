/** Sends a browser to where somebody says yes, and takes what it brings back. */
import type { CredentialHolder, Principal } from "../../../contract/index.ts";
import { scopeSet } from "./challenge.ts";
import type { OAuthClient } from "./client-auth.ts";
import { knownClient, register, withConfigured, withoutConfigured } from "./client-registration.ts";
import type { ConsentNotes } from "./consent-notes.ts";
import type { Discovered } from "./discovery.ts";
import type { Reading } from "./documents.ts";
import { loadOAuth, refusedBy } from "./issuer-request.ts";
import { OAuthFault } from "./oauth-fault.ts";
import { holderOf, type Passage, type Ticket, type Tickets, ticketHolder } from "./tickets.ts";
import { requestTokens } from "./token-request.ts";
import { chooseScopes, discoverFor, grantedBy, type OAuthSettings, type Wanted } from "./token-sources.ts";
import type { UpstreamOAuth } from "./upstream-oauth.ts";

export type ConsentDeskOptions = {
  readonly tickets: Tickets;
  /** Where browsers reach this gateway, without a slash at the end. */
  readonly baseUrl: () => string;
  readonly serverOf: (id: string) => UpstreamOAuth | undefined;
  readonly readingFor: (server: UpstreamOAuth) => Reading;
  readonly now: () => number;
  /**
   * Whether the gateway would still let them in, and at this server: a link outlives what its holder came with. Rejects where
   * that cannot be found out; then nobody may.
   */
  readonly mayConsent: (principal: Principal, server: string) => Promise<boolean>;
  readonly notes: ConsentNotes;
};

const MAX_REGISTERED = 1000;
/** Issuers may forget clients that nobody used. */
const REGISTERED_MS = 60 * 60_000;

const NOT_GOOD = "Whoever was given this link may not use the gateway any more.";

/** Whom the page is shown to. */
export type Visit = { readonly ticket: Ticket; readonly server: UpstreamOAuth };

export class ConsentDesk {
  readonly #options: ConsentDeskOptions;

  readonly #registered = new Map<string, { readonly client: OAuthClient; readonly until: number }>();

  constructor(options: ConsentDeskOptions) {
    this.#options = options;
  }

  get callbackUrl(): string {
    return `${this.#options.baseUrl()}/oauth/callback`;
  }

  /** Where this holder says yes. Good for ten minutes, and for nobody else. */
  link(server: string, holder: CredentialHolder, { scopes, resourceMetadata }: Wanted): string {
    const { tickets, baseUrl } = this.#options;
    const named = { ...(resourceMetadata !== undefined && { resourceMetadata }) };
    const ticket = tickets.sealTicket({ server, holder: ticketHolder(holder), scopes: [...scopes], ...named });
    return `${baseUrl()}/oauth/start/${encodeURIComponent(server)}?ticket=${ticket}`;
  }

  /** Undefined: the ticket, or its holder, is not (any more) good. Without one it is whoever everybody here is. */
  async visit(id: string, sealed: string | undefined): Promise<Visit | undefined> {
    const visit = this.#open(id, sealed);
    if (!visit || (await this.#mayConsent(visit.ticket))) return visit;
    this.#options.notes.linkRefused(visit.ticket, new OAuthFault(NOT_GOOD));
    return undefined;
  }

  #open(id: string, sealed: string | undefined): Visit | undefined {
    const server = this.#options.serverOf(id);
    if (server?.settings.type !== "oauth") return undefined;
    if (sealed !== undefined) {
      const ticket = this.#options.tickets.openTicket(id, sealed);
      return ticket && { ticket, server };
    }
    if (!server.common) return undefined;
    const holder = ticketHolder(server.common);
    const { scopes, resourceMetadata } = server.wantedBy(server.common);
    const ticket = { server: id, holder, scopes: [...scopes], resourceMetadata, expiresAt: Number.POSITIVE_INFINITY };
    return { server, ticket };
  }

  /** Where somebody will sign in, as it can be shown. Rejects with OAuthFault. */
  async placeOf({ ticket, server }: Visit): Promise<string> {
    const reading = this.#options.readingFor(server);
    const found = await discoverFor(server.settings, ticket, reading);
    return authorizationPage(found, reading.trust.loopback).host;
  }

  /** The issuer's page for this visit. Rejects with OAuthFault. */
  async begin({ ticket, server }: Visit, browser: string): Promise<string> {
    if (!(await this.#mayConsent(ticket))) {
      const refused = new OAuthFault(NOT_GOOD);
      this.#options.notes.linkRefused(ticket, refused);
      throw refused;
    }
    const { settings } = server;
    const reading = this.#options.readingFor(server);
    const found = await discoverFor(settings, ticket, reading);
    const page = authorizationPage(found, reading.trust.loopback);
    const client = await this.#clientFor(settings, found, reading);
    const oauth = await loadOAuth();
    const verifier = oauth.generateRandomCodeVerifier();
    const scopes = withOffline(chooseScopes(settings, ticket, found), found).join(" ");
    const { issuer, token_endpoint: tokenUrl, revocation_endpoint: revocationUrl } = found.issuer;
    const hasIss = found.issuer.authorization_response_iss_parameter_supported === true;
    const about = {
      server: settings.server,
      holder: ticket.holder,
      scopes,
      resource: found.resource,
      issuer,
      tokenUrl,
    };
    const known = { client: withoutConfigured(settings, client), verifier, hasIss };
    const state = this.#options.tickets.sealPassage({ ...about, ...known, revocationUrl }, browser);
    const parameters = {
      response_type: "code",
      client_id: client.id,
      redirect_uri: this.callbackUrl,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
      resource: found.resource,
      ...(scopes !== "" && { scope: scopes }),
      // Some issuers give a token for refreshing only to whoever was asked just now.
      ...(scopes.split(" ").includes("offline_access") && { prompt: "consent" }),
    };
    for (const [name, value] of Object.entries(parameters)) page.searchParams.set(name, value);
    return page.href;
  }

  /** A registration is used again for a while: whoever opens a page often shall not fill the issuer's list of clients. */
  async #clientFor(settings: OAuthSettings, { issuer }: Discovered, reading: Reading): Promise<OAuthClient> {
    const known = knownClient(settings, issuer);
    if (known) return known;
    const place = JSON.stringify([settings.server, issuer.issuer, issuer.registration_endpoint, this.callbackUrl]);
    const former = this.#registered.get(place);
    if (former && former.until > this.#options.now()) return former.client;
    const client = await register(issuer, this.callbackUrl, reading);
    if (this.#registered.size >= MAX_REGISTERED) this.#registered.clear();
    this.#registered.set(place, { client, until: this.#options.now() + REGISTERED_MS });
    return client;
  }

  /** What the issuer sent the browser back with. Resolves to the server's id. Rejects with OAuthFault. */
  async finish(answer: URLSearchParams, browser: string): Promise<string> {
    const passage = this.#options.tickets.openPassage(answer.get("state") ?? "", browser);
    try {
      return await this.#finish(passage, answer);
    } catch (error) {
      this.#options.notes.refused(passage, error);
      throw error;
    }
  }

  async #finish(passage: Passage | undefined, answer: URLSearchParams): Promise<string> {
    const server = passage && this.#options.serverOf(passage.server);
    if (!passage || !server)
      throw new OAuthFault("This answer belongs to no sign-in of this browser, or to one that is over.");
    const code = await codeIn(answer, passage);
    await this.#requireConsenting(passage);
    const reading = this.#options.readingFor(server);
    const { issuer, tokenUrl: url, verifier, resource, scopes } = passage;
    const endpoint = withConfigured(server.settings, { url, issuer, client: passage.client });
    const grant = { grant_type: "authorization_code", code, redirect_uri: this.callbackUrl, code_verifier: verifier };
    const tokens = await requestTokens(endpoint, { ...grant, resource }, reading);
    const found = { issuer: { issuer, token_endpoint: url, ...revocationOf(passage) }, resource, scopes: undefined };
    const granted = grantedBy(tokens, { endpoint, found, scopes, now: this.#options.now() });
    const holder = holderOf(passage.holder);
    // Issuers take their time.
    await this.#requireConsenting(passage);
    await server.granted(holder, granted);
    // Whatever was revoked while it was written has found nothing to forget.
    await this.#requireConsenting(passage).catch(async (error: unknown) => {
      await server.forget(holder, "it was revoked");
      throw error;
    });
    return passage.server;
  }

  async #requireConsenting(passage: Passage): Promise<void> {
    if (!(await this.#mayConsent(passage))) throw new OAuthFault(NOT_GOOD);
  }

  #mayConsent({ server, holder }: Ticket | Passage): Promise<boolean> {
    return this.#options.mayConsent(holderOf(holder).principal, server);
  }
}

function revocationOf({ revocationUrl }: Passage) {
  return revocationUrl === undefined ? {} : { revocation_endpoint: revocationUrl };
}

/** With a way to refresh, nobody has to come back when the token ends. */
function withOffline(scopes: readonly string[], { issuer }: Discovered): readonly string[] {
  return issuer.scopes_supported?.includes("offline_access") ? scopeSet(...scopes, "offline_access") : scopes;
}

/** Browsers are sent there: nothing but a page may come of it. */
function authorizationPage({ issuer }: Discovered, isLoopback: boolean): URL {
  const { authorization_endpoint: text = "", code_challenge_methods_supported: methods = [] } = issuer;
  if (!URL.canParse(text)) throw new OAuthFault("The authorization server has no page to sign in at.");
  if (!methods.includes("S256")) throw new OAuthFault("The authorization server does not do PKCE with S256.");
  const page = new URL(text);
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(page.hostname);
  if (page.protocol !== "https:" && !(isLoopback && isHere && page.protocol === "http:"))
    throw new OAuthFault("The authorization server's page is no https page.");
  return page;
}

/** Of an answer of the issuer that was asked (RFC 9207): the state has opened, so it is of this browser. Rejects with OAuthFault. */
async function codeIn(answer: URLSearchParams, { issuer, hasIss, client }: Passage): Promise<string> {
  const oauth = await loadOAuth();
  const as = { issuer, authorization_response_iss_parameter_supported: hasIss };
  try {
    const checked = oauth.validateAuthResponse(as, { client_id: client.id }, answer, oauth.skipStateCheck);
    const [code, ...more] = checked.getAll("code");
    if (code && more.length === 0) return code;
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError)
      throw refusedBy("did not agree", error.error, error.error_description);
    const message = "The answer comes from another authorization server than the one that was asked.";
    throw new OAuthFault(message, { cause: error });
  }
  throw refusedBy("did not agree", undefined, undefined);
}
