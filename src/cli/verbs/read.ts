import { withConnection } from "../client/connect.ts";
import { describeRefusal } from "../client/describe-refusal.ts";
import type { ConnectFlags } from "../client/gateway-url.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectsIn, textOf } from "../json.ts";
import { printBytes, printJson, printText } from "../output/console.ts";

/** Prints what a resource holds: text as it is, bytes as they are where they do not go to a terminal. */
export async function read(uri: string, options: ConnectFlags & { readonly json?: boolean }): Promise<void> {
  const result = await withConnection(options, (connection) =>
    connection.client.request("resources/read", { uri }).catch(async (error: unknown) => {
      throw await describeRefusal(uri, error, connection);
    }),
  );
  if (options.json) return printJson(result);
  for (const content of objectsIn(result.contents)) write(content);
}

function write({ text, blob, mimeType }: JsonObject): void {
  const { isTTY } = process.stdout;
  const words = textOf(text);
  if (words !== undefined) return printText(isTTY && !words.endsWith("\n") ? `${words}\n` : words);
  const bytes = Buffer.from(textOf(blob) ?? "", "base64");
  if (isTTY)
    throw new Ending("usage", [
      `it is ${bytes.length} bytes of ${textOf(mimeType) ?? "an unknown type"}: send them to a file with >`,
    ]);
  printBytes(bytes);
}
