import type { ConnectFlags } from "../client/connect.ts";
import { withConnection } from "../client/connect.ts";
import { type Listing, listOffers, type Offered, type OfferKind } from "../client/offers.ts";
import { Ending } from "../ending.ts";
import { outputWidth, print, printJson } from "../output/console.ts";
import { tableLines } from "../output/table.ts";

export type ListOptions = ConnectFlags & {
  readonly server?: string;
  readonly resources?: boolean;
  readonly prompts?: boolean;
  readonly json?: boolean;
};

/** Shows what the gateway offers, and what is wrong with which server. */
export async function list(options: ListOptions): Promise<void> {
  if (options.server !== undefined && options.resources) {
    throw new Ending("usage", ["--server: resources do not tell their server; leave out --server or --resources"]);
  }
  const { offers, troubles } = await withConnection(options, (connection) => listOffers(connection, kindsOf(options)));
  const { server } = options;
  const shown = server === undefined ? offers : offers.filter((offer) => offer.server === server);
  const listing = { offers: shown, troubles: troubles.filter(([id]) => server === undefined || id === server) };
  if (server !== undefined && shown.length === 0 && listing.troubles.length === 0) {
    throw new Ending("usage", [`--server: no server "${server}" offers anything; "isthmus list" shows all of them`]);
  }
  if (options.json) printJson(listingJson(listing));
  else for (const line of listingLines(listing, outputWidth())) print(line);
}

function kindsOf({ resources, prompts }: ListOptions): OfferKind[] {
  const asked: OfferKind[] = [
    ...(resources ? (["resource", "template"] as const) : []),
    ...(prompts ? (["prompt"] as const) : []),
  ];
  return asked.length > 0 ? asked : ["tool"];
}

/** Names of 64 characters are allowed; most are shorter than this. */
const MAX_COLUMN = 44;

export function listingLines({ offers, troubles }: Listing, width: number): string[] {
  const rows = offers.map(({ name, server, title, description }) => [name, server ?? "", description ?? title ?? ""]);
  const head = ["NAME", "SERVER", "DESCRIPTION"];
  const table =
    rows.length > 0 ? tableLines([head, ...rows], { width, maxColumn: MAX_COLUMN }) : ["Nothing is offered."];
  if (troubles.length === 0) return table;
  const wrong = troubles.map(([id, status, message]) => [id, status, message]);
  return [
    ...table,
    "",
    "Not working:",
    ...tableLines(wrong, { width: width - 2 }).map((line) => `  ${line}`),
    "",
    '"isthmus doctor" says what to do about it.',
  ];
}

function listingJson({ offers, troubles }: Listing): object {
  const entries = offers.map(({ kind, name, server, entry }: Offered) => ({ kind, name, server, entry }));
  const servers = troubles.map(([id, status, message]) => [id, { status, ...(message !== "" && { message }) }]);
  return { offers: entries, servers: Object.fromEntries(servers) };
}
