import { GatewayError, type HeldMessage, type HopEnd, type HttpRequest, type Member } from "../../contract/index.ts";

/** A request as it came over HTTP. */
export interface Posted {
  readonly headers: HttpRequest["headers"];
  /** Of its client, where the log is to name it. */
  readonly address: string | undefined;
  /** Its body, where that counts among what the process holds. */
  readonly held: HeldMessage | undefined;
  /** Nobody needs the body any more. */
  forgetBody(): void;
  /** Hands it to the process where what it speaks of lives. Undefined: there is no way there. */
  handOver(home: Member): Promise<HopEnd> | undefined;
}

/** Lets that process answer the request. Rejects, with nothing answered yet, where it does not. */
export async function answerElsewhere(posted: Posted | undefined, home: Member): Promise<void> {
  const end = await posted?.handOver(home);
  if (end?.type === "answered") return;
  throw new GatewayError("NOT_READY", { message: "The process that this is about does not answer." });
}
