/** How a sender may say more than that it failed. Anything else that it throws means: try again. */
export class SendFailure extends Error {
  override readonly name = "SendFailure";
  /** The receiver said when to come again. */
  readonly retryAfterMs: number | undefined;
  /** It will never take this message. */
  readonly isHopeless: boolean;

  constructor(message: string, options: { retryAfterMs?: number; isHopeless?: boolean } = {}) {
    super(message);
    this.retryAfterMs = options.retryAfterMs;
    this.isHopeless = options.isHopeless ?? false;
  }
}

const MAX_REASON = 500;

/** What is kept of a failure: short, and only what any database can keep. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.replaceAll("\0", " ").slice(0, MAX_REASON);
}
