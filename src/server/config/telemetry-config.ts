/** The `[telemetry]` table: where traces go. */
import * as z from "zod";
import { headerReferences } from "./header-schema.ts";

export const telemetrySchema = z
  .strictObject({
    otlp: z
      .string()
      .refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), { error: "expected an http(s) URL" })
      .optional()
      .describe(
        "The collector that traces are sent to by OTLP over HTTP; `/v1/traces` is added. Unset: OTEL_EXPORTER_OTLP_ENDPOINT of the environment, else nothing is exported and `traceparent` passes untouched.",
      ),
    headers: headerReferences
      .default({})
      .describe('Headers for the collector. A value may be { fromEnv = "NAME" } or { fromFile = "path" }.'),
  })
  .describe("Traces of calls, for an OpenTelemetry collector.");
