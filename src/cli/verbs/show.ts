import { resolveSchema, typesOf } from "../arguments/schema-types.ts";
import { withConnection } from "../client/connect.ts";
import { findOffer } from "../client/find-offer.ts";
import type { ConnectFlags } from "../client/gateway-url.ts";
import type { Offered } from "../client/offers.ts";
import { type JsonObject, listOf, objectOf, objectsIn, textOf } from "../json.ts";
import { outputWidth, print, printJson, tableWidth } from "../output/console.ts";
import { plainLine, plainText } from "../output/plain.ts";
import { tableLines } from "../output/table.ts";
import { wrap } from "../output/wrap.ts";

export type ShowOptions = ConnectFlags & { readonly json?: boolean };

/** Shows all there is to know about a tool, prompt or resource: what it is for, and what it takes. */
export async function show(name: string, options: ShowOptions): Promise<void> {
  const offer = await withConnection(options, (connection) =>
    findOffer(connection, name, ["tool", "prompt", "resource", "template"]),
  );
  if (options.json) return printJson({ kind: offer.kind, name: offer.name, server: offer.server, entry: offer.entry });
  for (const line of offerLines(offer)) print(line);
}

function offerLines({ kind, name, server, title, description, entry }: Offered): string[] {
  const about = [title, description].filter((text) => text !== undefined && text !== name).join("\n");
  const hints = Object.entries(objectOf(entry.annotations)).map(
    ([key, value]) => `${key}: ${plainLine(String(value))}`,
  );
  return [
    `${plainLine(name)}, a ${kind}${server === undefined ? "" : ` of ${plainLine(server)}`}`,
    ...(about === ""
      ? []
      : [
          "",
          ...plainText(about)
            .split("\n")
            .flatMap((line) => wrap(line, outputWidth())),
        ]),
    ...(hints.length === 0 ? [] : ["", `The server says of it: ${hints.join(", ")}`]),
    ...argumentLines(kind, entry),
    ...schemaLines("Input schema", entry.inputSchema),
    ...schemaLines("Output schema", entry.outputSchema),
    ...(textOf(entry.mimeType) === undefined ? [] : ["", `Type: ${plainLine(textOf(entry.mimeType) ?? "")}`]),
  ];
}

function argumentLines(kind: Offered["kind"], entry: JsonObject): string[] {
  const rows = kind === "prompt" ? promptRows(entry) : toolRows(objectOf(entry.inputSchema));
  if (rows.length === 0) return kind === "tool" || kind === "prompt" ? ["", "It takes no arguments."] : [];
  return ["", "Arguments:", ...tableLines(rows, { width: tableWidth() - 2 }).map((line) => `  ${line}`)];
}

function promptRows(entry: JsonObject): string[][] {
  return objectsIn(entry.arguments).map(({ name, required, description }) => [
    textOf(name) ?? "",
    required === true ? "required" : "optional",
    textOf(description) ?? "",
  ]);
}

function toolRows(schema: JsonObject): string[][] {
  const required = listOf(schema.required);
  return Object.entries(objectOf(schema.properties)).map(([key, member]) => {
    const resolved = resolveSchema(member, schema);
    const types = [...typesOf(resolved, schema)].join(" or ") || "anything";
    return [key, types, required.includes(key) ? "required" : "optional", textOf(resolved.description) ?? ""];
  });
}

/** The whole of it: what the table leaves out may matter. */
function schemaLines(heading: string, schema: unknown): string[] {
  if (schema === undefined) return [];
  return [
    "",
    `${heading}:`,
    ...plainText(JSON.stringify(schema, null, 2))
      .split("\n")
      .map((line) => `  ${line}`),
  ];
}
