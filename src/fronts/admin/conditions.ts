/** Versions of what is answered, and what callers take them to be. */
import { createHash } from "node:crypto";
import type { HttpRequest } from "../../contract/index.ts";
import { Refusal } from "./problem.ts";

const TAG = /^"([\x21\x23-\x7e\x80-\xff]*)"$/;

/** What the caller takes to be the present version; undefined: whatever it is. Throws Refusal. */
export function readIfMatch({ headers }: HttpRequest): string | undefined {
  const written = headers["if-match"]?.trim();
  if (written === undefined || written === "*") return undefined;
  const tag = TAG.exec(written)?.[1];
  if (tag === undefined) throw new Refusal(400, "If-Match takes one strong entity tag, as it came in ETag.");
  return tag;
}

/** Refuses what would be ignored otherwise: a change under a condition that nobody looks at. */
export function refuseIfNoneMatch({ headers }: HttpRequest): void {
  if (headers["if-none-match"] !== undefined) throw new Refusal(400, "If-None-Match is for GET and HEAD.");
}

/** Whether the caller has it already. */
export function isKnown({ headers }: HttpRequest, tag: string): boolean {
  const written = headers["if-none-match"];
  if (written === undefined) return false;
  const bare = tag.replace(/^W\//, "");
  return written.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === bare);
}

/** As it stands in the header. Without a version of its own an answer is known by what it says. */
export function tagOf(version: string | undefined, text: string): string {
  if (version !== undefined) return `"${version.replace(/[^\x21\x23-\x7e]/g, "_")}"`;
  return `W/"${createHash("sha256").update(text).digest("base64url").slice(0, TAG_LENGTH)}"`;
}

const TAG_LENGTH = 22;
