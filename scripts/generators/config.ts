/** Turns a zod schema into the reference of a config file: one table per TOML table. */
import * as z from "zod";
import { configSchema } from "../../src/server/config/config-schema.ts";
import { type Generator, type Page, page, REFERENCE, table } from "./page.ts";

type Schema = {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  default?: unknown;
  description?: string;
};

export const configGenerator: Generator = { name: "config", pages: async () => [configPage(configSchema)] };

/** Keys are described with `.describe()` or `.meta({ description })`, defaults come from `.default()`. */
export function configPage(schema: z.ZodType): Page {
  const root = z.toJSONSchema(schema, { io: "input", unrepresentable: "any", reused: "inline" }) as Schema;
  return page(
    `${REFERENCE}/config.md`,
    "# Configuration",
    ...(root.description ? [root.description] : []),
    ...sections("", root),
  );
}

function sections(heading: string, schema: Schema): string[] {
  const entries = Object.entries(schema.properties ?? {});
  const plain = entries.filter(([, value]) => tableHeading("", value) === undefined);
  const blocks: string[] = [];
  if (heading !== "") blocks.push(`## \`${heading}\``, ...(schema.description ? [schema.description] : []));
  if (plain.length > 0) {
    const required = new Set(schema.required);
    const rows = plain.map(([key, value]) => [
      `\`${key}\``,
      typeName(value),
      defaultOf(value, required.has(key)),
      value.description ?? "",
    ]);
    blocks.push(table(["key", "type", "default", "meaning"], rows));
  }
  for (const [key, value] of entries) {
    const name = tableHeading(heading.replace(/[[\]]/g, "") + (heading === "" ? "" : ".") + key, value);
    if (name !== undefined) blocks.push(...sections(name, { ...(value.items ?? value), ...pickDescription(value) }));
  }
  return blocks;
}

/** `[a]` for an object with known keys, `[[a]]` for a list of them, undefined for anything that fits in a cell. */
function tableHeading(key: string, schema: Schema): string | undefined {
  if (schema.properties !== undefined) return `[${key}]`;
  return schema.items?.properties === undefined ? undefined : `[[${key}]]`;
}

function pickDescription({ description }: Schema): Pick<Schema, "description"> {
  return description === undefined ? {} : { description };
}

function typeName(schema: Schema): string {
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(" or ");
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeName))].join(" or ");
  if (schema.items !== undefined) return `list of ${typeName(schema.items)}`;
  if (schema.properties !== undefined) return `{ ${Object.keys(schema.properties).join(", ")} }`;
  if (typeof schema.additionalProperties === "object") return `table of ${typeName(schema.additionalProperties)}`;
  return [schema.type ?? "any"].flat().join(" or ");
}

function defaultOf(schema: Schema, required: boolean): string {
  if (schema.default !== undefined) return code(schema.default);
  return required ? "required" : "";
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``;
}
