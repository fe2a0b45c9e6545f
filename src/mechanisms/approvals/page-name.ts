/**
 * The name of the page of one approval: its id, and what only those know who were told the link. The id alone, which stands on
 * the audit trail, opens nothing.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Approval } from "../../contract/index.ts";

const NAME = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}$/;

/** Made of the nonce, which every process finds in the approval, and which is never on the trail. */
export function pageName({ id, nonce }: Pick<Approval, "id" | "nonce">): string {
  return `${id}.${createHmac("sha256", nonce).update(`approval page ${id}`).digest("base64url")}`;
}

/** The id in what somebody says is the name of a page; undefined: it is none. */
export function idIn(name: string): string | undefined {
  return NAME.exec(name)?.[1];
}

export function isPageOf(approval: Approval, name: string): boolean {
  const [own, said] = [Buffer.from(pageName(approval)), Buffer.from(name)];
  return own.length === said.length && timingSafeEqual(own, said);
}
