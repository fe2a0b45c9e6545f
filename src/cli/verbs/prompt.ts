import { readArguments } from "../arguments/typed-arguments.ts";
import { withConnection } from "../client/connect.ts";
import { describeRefusal } from "../client/describe-refusal.ts";
import { findOffer } from "../client/find-offer.ts";
import type { ConnectFlags } from "../client/gateway-url.ts";
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { printJson, printText } from "../output/console.ts";
import { plainLine } from "../output/plain.ts";
import { resultText } from "../output/result-text.ts";

/** Fills in a prompt, and prints its messages. */
export async function prompt(
  name: string,
  words: readonly string[],
  options: ConnectFlags & { readonly json?: boolean },
): Promise<void> {
  const result = await withConnection(options, async (connection) => {
    const { entry } = await findOffer(connection, name, ["prompt"]);
    try {
      return await connection.client.request("prompts/get", { name, arguments: readArguments(words, schemaOf(entry)) });
    } catch (error) {
      throw await describeRefusal(name, error, connection);
    }
  });
  if (options.json) return printJson(result);
  for (const { role, content } of objectsIn(result.messages)) {
    printText(`${plainLine(textOf(role) ?? "?")}: ${resultText({ content: [objectOf(content)] })}`);
  }
}

/** The arguments of a prompt are texts. */
function schemaOf(entry: JsonObject): JsonObject {
  const args = objectsIn(entry.arguments).map(({ name, required, description }) => ({
    name: textOf(name) ?? "",
    isRequired: required === true,
    about: { type: "string", ...(description !== undefined && { description }) },
  }));
  return {
    properties: Object.fromEntries(args.map(({ name, about }) => [name, about])),
    required: args.filter(({ isRequired }) => isRequired).map(({ name }) => name),
    additionalProperties: false,
  };
}
