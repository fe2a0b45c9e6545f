import { type Entries, GatewayError } from "../../../contract/index.ts";

/** Signed messages that were taken, for as long as they would be taken again. Rejects with STATE_UNAVAILABLE or OVERLOADED. */
export interface HeardWords {
  has(word: string): Promise<boolean>;
  add(word: string, ttlMs: number): Promise<void>;
}

const MAX_WORDS = 10_000;

/** Of a gateway that remembers nothing beyond its own end: nor does it remember whom it has blocked. */
export function ownWords(now: () => number): HeardWords {
  const heard = new Map<string, number>();
  return {
    async has(word) {
      for (const [known, until] of heard) if (until < now()) heard.delete(known);
      if (heard.size >= MAX_WORDS) throw new GatewayError("OVERLOADED");
      return heard.has(word);
    },
    async add(word, ttlMs) {
      heard.set(word, now() + ttlMs);
    },
  };
}

/** Of a gateway with a store: what one process has taken, no other takes, nor does one that starts later. */
export function sharedWords(entries: Entries): HeardWords {
  const keyOf = (word: string) => `revocation:${word}`;
  return {
    has: async (word) => (await entries.get(keyOf(word))) !== undefined,
    add: async (word, ttlMs) => void (await entries.claim(keyOf(word), OWNER, { value: "", ttlMs })),
  };
}

/** No process: nobody ever writes it again. */
const OWNER = "revocations";
