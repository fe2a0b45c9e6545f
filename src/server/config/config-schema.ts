/** The whole file: the sum of what each part declares beside its code. */
import * as z from "zod";
import { catalogSchema } from "./catalog-config.ts";
import { gatewaySchema } from "./gateway-config.ts";
import { serverSchema } from "./server-config.ts";
import { clusterSchema, databaseSchema, sharedSchema } from "./state-config.ts";
import { telemetrySchema } from "./telemetry-config.ts";

export const configSchema = z
  .strictObject({
    gateway: gatewaySchema.prefault({}),
    servers: z.array(serverSchema).default([]),
    catalogs: z.array(catalogSchema).default([]),
    telemetry: telemetrySchema.prefault({}),
    database: databaseSchema.prefault({}),
    shared: sharedSchema.prefault({}),
    cluster: clusterSchema.prefault({}),
  })
  .describe("`isthmus.toml`. Durations are written as `500ms`, `30s`, `2m`, `1h`; sizes as `64KB`, `1MiB`.");
