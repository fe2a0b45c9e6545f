/** Whose signature counts as a yes. */
import type { Approval, Log } from "../../contract/index.ts";
import { readPublicKey, type TrustedKey } from "./key-text.ts";

/** Who signs: a person, a policy engine, or a service that people approve in. */
export const PROOF_TYPES = ["operator_signature", "policy_nonce", "approval_token"] as const;
export type ProofType = (typeof PROOF_TYPES)[number];

export type AnchorConfig = {
  readonly type: ProofType;
  /** The key itself; unset: it is in the file, which is read whenever a proof comes. */
  readonly key?: string | undefined;
  readonly file?: string | undefined;
  /** What `iss` of its proofs must be; unset: anything. */
  readonly issuer?: string | undefined;
  /** Who has this key, as users, clients or principals: it cannot approve what they ask for. */
  readonly holders: readonly string[];
  /** Whose calls it may approve; empty: everybody's. */
  readonly tenants: readonly string[];
};

export type Anchor = AnchorConfig & { readonly trusted: TrustedKey };

export type AnchorOptions = {
  readonly anchors: readonly AnchorConfig[];
  readonly log: Log;
  /** The text of a file; undefined where there is none. */
  readonly read: (file: string) => string | undefined;
};

export class Anchors {
  readonly #options: AnchorOptions;
  /** By the text of the key: a file that stays as it is is understood once. */
  readonly #known = new Map<string, TrustedKey | undefined>();

  constructor(options: AnchorOptions) {
    this.#options = options;
  }

  /** Those of this type that may speak about this approval. */
  of(type: string, { tenant }: Approval): readonly Anchor[] {
    return this.#options.anchors.flatMap((anchor) => {
      if (anchor.type !== type) return [];
      if (anchor.tenants.length > 0 && !anchor.tenants.includes(tenant)) return [];
      const trusted = this.#keyOf(anchor);
      return trusted ? [{ ...anchor, trusted }] : [];
    });
  }

  /** The types that anybody can prove with. */
  get types(): readonly ProofType[] {
    const usable = this.#options.anchors.filter((anchor) => this.#keyOf(anchor) !== undefined);
    return PROOF_TYPES.filter((type) => usable.some((anchor) => anchor.type === type));
  }

  #keyOf({ key, file }: AnchorConfig): TrustedKey | undefined {
    const text = key ?? (file === undefined ? undefined : this.#options.read(file));
    if (text === undefined) return undefined;
    if (!this.#known.has(text)) {
      if (this.#known.size > this.#options.anchors.length) this.#known.clear();
      this.#known.set(text, this.#understood(text, file));
    }
    return this.#known.get(text);
  }

  #understood(text: string, file: string | undefined): TrustedKey | undefined {
    try {
      return readPublicKey(text);
    } catch (error) {
      this.#options.log.warn("trust anchor cannot be used", { file, reason: (error as Error).message });
      return undefined;
    }
  }
}
