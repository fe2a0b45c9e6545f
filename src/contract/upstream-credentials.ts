import type { Principal } from "./principal.ts";

/** Who a request to a server is made for. `session`: of tokens that are kept for no longer than a session. */
export type CredentialHolder = { readonly principal: Principal; readonly session: string };

/** How a server refused a request. */
export type Refusal = {
  readonly status: 401 | 403;
  /** Its `WWW-Authenticate`, as it came. */
  readonly challenge: string;
  /** The header lines that were refused. */
  readonly sent: string;
  /** What `refused` brought about was refused as well: nothing is tried again. */
  readonly isRepeat: boolean;
};

/**
 * The credentials with which one server is called: for calls, lists and streams alike. Never gives a token to anybody but
 * the server it is for, nor one holder's token to another.
 */
export interface UpstreamCredentials {
  /** Each caller has credentials of their own: sessions are not shared among them. */
  readonly isPerCaller: boolean;
  /** Whom the session of everybody acts for; unset: nobody. */
  readonly common: CredentialHolder | undefined;
  /** Header lines; "" where there are none yet. Rejects, or throws, with a GatewayError. */
  headersFor(holder: CredentialHolder): string | Promise<string>;
  /**
   * The server refused what was sent: it is dropped, and once tried without anybody's help. Resolves when something else can
   * be sent; rejects with CONSENT_REQUIRED, whose details have a `url`, where somebody must say yes first.
   */
  refused(holder: CredentialHolder, refusal: Refusal): Promise<void>;
  /** Tells when somebody has said yes, and for whom. */
  onGranted(listener: (isFor: (holder: CredentialHolder) => boolean) => void): () => void;
  /** The session is over: what was kept for it is forgotten. */
  release(session: string): void;
}
