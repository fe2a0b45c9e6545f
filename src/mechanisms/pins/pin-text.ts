/** The book as text: one pin a line, so that a person can read it and a version control system compare it. */
import * as z from "zod";
import { type Pin, PinBook } from "./pin-book.ts";

const digest = z.string().max(128);
const parts = z.record(z.string().max(64), digest);
const time = z.string().max(64);
const pinSchema = z.object({
  server: z.string().max(1024),
  kind: z.enum(["tool", "prompt"]),
  name: z.string().max(1024),
  since: time,
  prints: z.array(z.object({ digest, parts })).max(8),
  pending: z
    .array(
      z.object({ digest, parts, since: time, what: z.array(z.string().max(64)).max(16), was: z.string().optional() }),
    )
    .max(8)
    .default([]),
  acceptedAt: time.optional(),
  goneAt: time.optional(),
});
const bookSchema = z.object({ version: z.literal(1), pins: z.array(pinSchema) });

/** Throws an Error that says what is wrong with it. */
export function parseBook(text: string): PinBook {
  const parsed = bookSchema.safeParse(parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`is no book of pins (${issue?.path.join(".") || "the whole"}: ${issue?.message})`);
  }
  const book = new PinBook();
  for (const pin of parsed.data.pins) book.put(pin);
  return book;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("is no JSON");
  }
}

export function bookText(book: PinBook): string {
  const lines = [...book.all()].map((pin) => JSON.stringify(lineOf(pin)));
  return `{"version":1,"pins":[\n${lines.join(",\n")}\n]}\n`;
}

function lineOf({ pending, ...pin }: Pin) {
  return pending.length > 0 ? { ...pin, pending } : pin;
}
