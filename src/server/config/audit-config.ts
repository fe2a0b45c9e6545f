/** The `[audit]` table: what is recorded, and where it goes beside the store. */
import { resolve } from "node:path";
import * as z from "zod";
import { durationMs, sizeBytes } from "./amounts.ts";
import { headerReferences, resolveHeaders } from "./header-schema.ts";
import { type Problem, valueAt } from "./problem.ts";
import { READ_ONCE } from "./read-once.ts";
import type { Resolver } from "./references.ts";
import type { Secret } from "./secret.ts";

const captureSchema = z.lazy(() =>
  z
    .strictObject({
      tools: z
        .array(z.string())
        .min(1)
        .max(64)
        .describe(
          'Which tools, by the names that rules have for them (`["crm.*"]`), or with the id of the server in the place of its prefix.',
        ),
      arguments: z.array(z.string()).min(1).max(64).describe("The names of the arguments."),
    })
    .describe(
      "Arguments whose values are recorded. What is named or looks like a secret is not, and long values are cut.",
    ),
);

export const auditSchema = z
  .strictObject({
    plain: z
      .enum(["all", "decisions"])
      .default("all")
      .describe(
        "`all`: every call. `decisions`: only refusals, and what operators and approvers decide. Without this table: `decisions`.",
      ),
    digest: z
      .boolean()
      .default(false)
      .describe(
        "Whether the digest, names and kinds of the arguments of every call are recorded, and not only of refused ones.",
      ),
    onFull: z
      .enum(["refuse", "flag"])
      .default("refuse")
      .describe(
        "While the store is away and the spool is full: `refuse` calls, or make them and say in the trail how many are missing (`flag`). Decisions are refused in any case.",
      ),
    spool: sizeBytes
      .prefault("64MiB")
      .describe("How much of what the store does not have yet is kept in the state folder."),
    keep: durationMs
      .refine((ms) => ms > 0, { error: "expected a time longer than nothing" })
      .optional()
      .describe(
        'How long events are kept: `"400d"`. Unset: for good. What is older is removed in whole blocks, and a signed checkpoint says what it was.',
      ),
    capture: z.array(captureSchema).max(64).default([]),
    file: z
      .strictObject({
        path: z.string().describe("Relative to the config."),
        maxSize: sizeBytes.prefault("64MiB").describe("When it is larger it gets a number, and a new one begins."),
        keep: z.int().min(0).max(1_000).default(8).describe("How many numbered ones stay."),
      })
      .optional()
      .describe("Events also go to a file, one line of JSON each."),
    otlp: z
      .boolean()
      .default(false)
      .describe("Whether events also go to the collector of `[telemetry]`, as log records under `/v1/logs`."),
    webhook: z
      .strictObject({
        url: z
          .string()
          .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), { error: "expected an http(s) URL" }),
        headers: headerReferences.default({}).describe("May be references to secrets."),
      })
      .optional()
      .describe("Events are also posted there in blocks, again and again until each has arrived. Needs a database."),
  })
  .describe("The audit trail.");

export type AuditConfig = Omit<z.output<typeof auditSchema>, "file" | "webhook" | "spool" | "keep"> & {
  /** Whether the table is there. */
  readonly isOn: boolean;
  readonly spoolBytes: number;
  /** Unset: for good. */
  readonly keepMs?: number | undefined;
  readonly file?: { readonly path: string; readonly maxSize: number; readonly keep: number } | undefined;
  readonly webhook?: { readonly url: string; readonly headers: Readonly<Record<string, Secret>> } | undefined;
};

const HEADERS = ["audit", "webhook", "headers"];

export function resolveAudit(table: unknown, resolverAt: (path: Problem["path"]) => Resolver): Record<string, Secret> {
  return resolveHeaders(valueAt(table, HEADERS), HEADERS, resolverAt(HEADERS));
}

export type AuditPlaces = {
  readonly folder: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly isInMemory: boolean;
  readonly hasCollector: boolean;
};

export function checkAudit(data: z.output<typeof auditSchema> | undefined, places: AuditPlaces): Problem[] {
  const problems: Problem[] = [];
  if (data?.webhook && places.isInMemory) {
    problems.push({
      path: ["audit", "webhook"],
      text: "messages are kept in a database until they have arrived; set [database] url, or a state folder",
    });
  }
  if (data?.otlp && !places.hasCollector) {
    problems.push({ path: ["audit", "otlp"], text: "there is no collector; set `otlp` in [telemetry]" });
  }
  return problems;
}

export function shapeAudit(
  data: z.output<typeof auditSchema> | undefined,
  { folder, headers }: AuditPlaces,
): AuditConfig {
  const { file, webhook, spool, keep, ...rest } = data ?? auditSchema.parse({ plain: "decisions" }, READ_ONCE);
  return {
    ...rest,
    isOn: data !== undefined,
    spoolBytes: spool,
    ...(keep !== undefined && { keepMs: keep }),
    ...(file && { file: { ...file, path: resolve(folder, file.path) } }),
    ...(webhook && { webhook: { url: webhook.url, headers } }),
  };
}
