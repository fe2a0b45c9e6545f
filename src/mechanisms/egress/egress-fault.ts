/** Why a request did not go out, or brought nothing. The message is safe to show: it names the host and never a secret. */
export class EgressFault extends Error {
  override readonly name = "EgressFault";
  /** refused: we do not go there. unreachable: nobody answered in time. invalid: the answer cannot be used. */
  readonly reason: "refused" | "unreachable" | "invalid";

  constructor(reason: EgressFault["reason"], message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
