import { GatewayError } from "../../../contract/index.ts";

/** How issuers say that this caller gets no token, or not that one; by RFC 8693 also that its own token is not good. */
const CALLER_CODES: readonly string[] = ["invalid_request", "invalid_grant", "invalid_scope", "access_denied"];

/** Why there is no token. The message is safe to show: it holds no secret, and of the issuer's words its error code and one plain line. */
export class OAuthFault extends Error {
  override readonly name = "OAuthFault";
  /** The issuer's own `error`, where that is what went wrong. */
  readonly code: string | undefined;

  constructor(message: string, options: { readonly code?: string; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code;
  }

  /** What was granted before is worth nothing any more: asking again in the same way would not help. */
  get isFinal(): boolean {
    return this.code === "invalid_grant";
  }

  /** The issuer does not take us for the client that we say we are; of what was granted that says nothing. */
  get isAboutClient(): boolean {
    return this.code === "invalid_client" || this.code === "unauthorized_client";
  }

  /** What a call ends with that needs the token. That the issuer gives none to one caller says nothing about the server. */
  static asGatewayError(error: unknown): GatewayError {
    if (!(error instanceof OAuthFault)) return GatewayError.from(error);
    const isAboutCaller = CALLER_CODES.includes(error.code ?? "");
    const code = isAboutCaller ? "NOT_ALLOWED" : "PROVIDER_UNREACHABLE";
    return new GatewayError(code, { message: error.message, cause: error });
  }

  /** More was asked for than the issuer gives. */
  static isAboutScope(error: unknown): boolean {
    return error instanceof OAuthFault && error.code === "invalid_scope";
  }
}
