import { withConnection } from "../client/connect.ts";
import type { ConnectFlags } from "../client/gateway-url.ts";
import { listOffers } from "../client/offers.ts";
import { print, printJson, tableWidth } from "../output/console.ts";
import { tableLines } from "../output/table.ts";
import { rank } from "../search/rank.ts";

export type SearchOptions = ConnectFlags & { readonly limit: number; readonly json?: boolean };

/** Finds tools, resources and prompts by words in their names, titles and descriptions. */
export async function search(words: readonly string[], options: SearchOptions): Promise<void> {
  const { offers } = await withConnection(options, (connection) =>
    listOffers(connection, ["tool", "prompt", "resource", "template"]),
  );
  const hits = rank(words.join(" "), offers).slice(0, options.limit);
  if (options.json) {
    const found = hits.map(({ item: { kind, name, server, entry }, score }) => ({ kind, name, server, score, entry }));
    return printJson({ hits: found });
  }
  if (hits.length === 0) return print(`Nothing among ${offers.length} has these words.`);
  const rows = hits.map(({ item }) => [item.name, item.kind, item.description ?? item.title ?? ""]);
  for (const line of tableLines([["NAME", "KIND", "DESCRIPTION"], ...rows], { width: tableWidth() })) print(line);
}
