/** What a tool answered, for a person: text as it is, and a line for what cannot be shown. */
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";

/** Ends with a line end. */
export function resultText(result: JsonObject): string {
  const parts = objectsIn(result.content).map(describePart);
  const { structuredContent } = result;
  if (parts.length === 0 && structuredContent !== undefined) parts.push(JSON.stringify(structuredContent, null, 2));
  return parts.map((part) => (part.endsWith("\n") ? part : `${part}\n`)).join("");
}

function describePart(part: JsonObject): string {
  switch (part.type) {
    case "text":
      return textOf(part.text) ?? "";
    case "image":
    case "audio":
      return `[${part.type}, ${textOf(part.mimeType) ?? "of unknown type"}, ${bytesIn(part.data)} bytes; --json shows it]`;
    case "resource_link":
      return `[resource ${textOf(part.uri) ?? ""}]`;
    case "resource": {
      const { uri, text, blob } = objectOf(part.resource);
      return textOf(text) ?? `[resource ${textOf(uri) ?? ""}, ${bytesIn(blob)} bytes; --json shows it]`;
    }
    default:
      return JSON.stringify(part);
  }
}

function bytesIn(base64: unknown): number {
  return Buffer.byteLength(textOf(base64) ?? "", "base64");
}
