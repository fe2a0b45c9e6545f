/** Why there is no token. The message is safe to show: it holds no secret, and of the issuer's words only its error code. */
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
    return this.code === "invalid_grant" || this.code === "invalid_client" || this.code === "unauthorized_client";
  }
}
