import type { Principal } from "./principal.ts";

/** Something that was turned away before it became a call. Nothing of what was sent is in it but what it named. */
export type RefusedMessage = {
  /** One of a short list, and never a caller's text. */
  readonly reason: string;
  /** Unset: nobody knows who it was. */
  readonly principal?: Principal | undefined;
  /** Where it came from; "" where nobody can say. */
  readonly address?: string | undefined;
  /** The path it came to, without its query. */
  readonly path?: string | undefined;
  /** The primitive, method or operation that it named. */
  readonly name?: string | undefined;
};

/** Puts it on record, within bounds: whoever is turned away again and again is counted. */
export type NoteRefusal = (refused: RefusedMessage) => void;
