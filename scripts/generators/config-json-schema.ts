/** Turns a zod schema into the JSON Schema by which editors complete and check a config file. */
import * as z from "zod";
import { configSchema } from "../../src/server/config/config-schema.ts";
import { type Generator, type Page, REFERENCE } from "./page.ts";

export const configJsonSchemaGenerator: Generator = {
  name: "config-json-schema",
  pages: async () => [configJsonSchemaPage(configSchema)],
};

/** Draft 7: the newest that the TOML plugins of editors understand in all its parts. */
export function configJsonSchemaPage(schema: z.ZodType): Page {
  const root = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    reused: "inline",
    target: "draft-7",
  });
  const text = JSON.stringify({ ...root, title: "isthmus.toml" }, null, 2);
  return { path: `${REFERENCE}/isthmus.schema.json`, text: `${text}\n` };
}
