/** What one server says of itself when a session is opened: bounded, and kept once for all sessions. */
import {
  copyString,
  copyText,
  decodeString,
  type Members,
  membersAt,
  type Payload,
  payload,
} from "../../contract/index.ts";
import type { RepeatedWarning } from "./repeated-warning.ts";
import { UpstreamFault } from "./transport.ts";

/** As clients may declare. */
export const MAX_CAPABILITIES = 64 * 1024;
/** Every client of the server gets them, and models read them. */
export const MAX_INSTRUCTIONS = 64 * 1024;

export type Declared = { readonly capabilities: Payload; readonly instructions?: string };

export class Declarations {
  readonly #cut: RepeatedWarning;
  /** Nearly all sessions hear the same. */
  #last: Declared | undefined;

  /** `cut`: is told where instructions are too long. */
  constructor(cut: RepeatedWarning) {
    this.#cut = cut;
  }

  /** Of the answer that opens a session. Throws UpstreamFault where there is nothing that could be used. */
  read(members: Members | undefined): Declared {
    const capabilities = members?.textOf("capabilities") ?? "{}";
    if (capabilities.length > MAX_CAPABILITIES)
      throw invalid(`The server declared capabilities of more than ${MAX_CAPABILITIES} bytes.`);
    if (!membersAt(capabilities, 0)) throw invalid("The server declared no capabilities.");
    const instructions = decodeString(members?.textOf("instructions"));
    if (instructions !== undefined && instructions.length > MAX_INSTRUCTIONS)
      this.#cut.note({ characters: instructions.length, kept: MAX_INSTRUCTIONS });
    return this.shared(capabilities, instructions?.slice(0, MAX_INSTRUCTIONS));
  }

  /** The same as it is kept for others already. What is new is a copy, which keeps nothing of the answer. */
  shared(capabilities: string, instructions: string | undefined): Declared {
    const last = this.#last;
    if (last?.capabilities.text === capabilities && last.instructions === instructions) return last;
    this.#last = {
      capabilities: payload(copyText(capabilities)),
      ...(instructions === undefined ? {} : { instructions: copyString(instructions) }),
    };
    return this.#last;
  }
}

function invalid(message: string): UpstreamFault {
  return new UpstreamFault({ kind: "invalid", message });
}
