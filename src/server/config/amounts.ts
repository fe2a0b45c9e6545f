/** Durations and sizes in a file: text with a unit. A bare number says nothing about its unit and is refused. */
import * as z from "zod";
import { parseBytes, parseDurationMs } from "../../contract/index.ts";

const amount = (parse: (text: string) => number | undefined, error: string) =>
  z
    .string({ error })
    .refine((text) => parse(text) !== undefined, { error, abort: true })
    .transform((text) => parse(text) as number);

export const durationMs = amount(parseDurationMs, 'expected a duration such as "30s", "500ms" or "2m"');

export const sizeBytes = amount(parseBytes, 'expected a size such as "1MiB" or "64KB"');
