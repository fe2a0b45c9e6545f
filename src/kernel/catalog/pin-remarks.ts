/** What a view says about primitives that are not as they were when they were first seen, under the names it shows. */
import { jsonText, type Offer, type Primitive } from "../../contract/index.ts";
import type { NameClaim } from "./name-claims.ts";

/** One list speaks of so many of one provider; the log and the command line know of all. */
const MAX_REMARKS = 256;

export class PinRemarks {
  /** Each as `"name":{…}`, joined by commas. */
  readonly text: string;
  /** The names of those that are held back. */
  readonly held: ReadonlySet<string>;

  /** Undefined: there is nothing to say. `moved`: names that are taken, by the provider's own name. */
  static of(
    { pins }: Offer,
    claims: readonly NameClaim[],
    moved: ReadonlyMap<string, string> | undefined,
  ): PinRemarks | undefined {
    if (!pins || pins.size === 0) return undefined;
    const texts = new Map<string, string>();
    const held = new Set<string>();
    for (const { primitive, name: wished } of claims) {
      const remark = pins.get(primitive.name);
      if (!remark) continue;
      const name = moved?.get(primitive.name) ?? wished;
      if (remark.status === "held") held.add(name);
      if (texts.size < MAX_REMARKS) texts.set(name, `${jsonText(name)}:${jsonText(remark)}`);
    }
    return texts.size > 0 ? new PinRemarks([...texts.values()].join(","), held) : undefined;
  }

  private constructor(text: string, held: ReadonlySet<string>) {
    this.text = text;
    this.held = held;
  }
}

/** Whether it may be neither seen nor called. */
export function isHeld({ pins }: Offer, { name }: Primitive): boolean {
  return pins?.get(name)?.status === "held";
}
