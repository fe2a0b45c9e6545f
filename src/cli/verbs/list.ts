import { type Connection, cutLists, type GatewayFacts, withConnection } from "../client/connect.ts";
import type { ConnectFlags } from "../client/gateway-url.ts";
import { type Listing, listOffers, type Offered, type OfferKind, serverAmong, serverOf } from "../client/offers.ts";
import { Ending } from "../ending.ts";
import { print, printJson, say, tableWidth } from "../output/console.ts";
import { askForGrantLines, type GrantExample, grantLines } from "../output/grant-advice.ts";
import { heldLines } from "../output/held-words.ts";
import { plainLine } from "../output/plain.ts";
import { tableLines, wrappedRows } from "../output/table.ts";
import { PROGRAM } from "../program-name.ts";

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
  const { offers, troubles, ...looked } = await withConnection(options, (connection) => look(connection, options));
  const { server } = options;
  const shown = server === undefined ? offers : offers.filter((offer) => offer.server === server);
  const isOfServer = (name: string) => server === undefined || looked.serverOf(name) === server;
  const isAsked = ([id]: readonly string[]) => server === undefined || id === server;
  const wrong = troubles.filter(isAsked);
  const rest = { cut: looked.cut.filter(isAsked), held: looked.held.filter(isOfServer) };
  const listing: Looked = { ...looked, offers: shown, troubles: wrong, ...rest };
  if (looked.other !== undefined) say(looked.other);
  const isEmpty = shown.length === 0 && wrong.length === 0 && rest.held.length === 0;
  if (server !== undefined && isEmpty && !looked.nothingGranted) {
    throw new Ending("usage", [`--server: no server "${server}" offers anything; "${PROGRAM} list" shows all of them`]);
  }
  if (options.json) printJson(listingJson(listing));
  else for (const line of listingLines(listing, tableWidth())) print(line);
}

/** What is offered, and what the programs of servers that do not work wrote last, where we may know. */
type Looked = Listing & {
  readonly words: ReadonlyMap<string, readonly string[]>;
  readonly cut: ReturnType<typeof cutLists>;
  /** What is asked for, in one word. */
  readonly asked?: "tool" | "prompt";
  /** Callers are known, and none of them may use anything: an example of what to grant. */
  readonly nothingGranted: GrantExample | undefined;
  /** Others may use something, and this caller nothing. */
  readonly lacksGrant?: GrantExample | undefined;
  /** That the gateway has another config than the one here, where a server of this one is missing. */
  readonly other?: string | undefined;
};

type Asked = Looked & { readonly serverOf: (name: string) => string | undefined };

async function look(connection: Connection, options: ListOptions): Promise<Asked> {
  const found = await listOffers(connection, kindsOf(options));
  const servers = await connection.servers();
  const other = await connection.otherConfig?.();
  const ids = servers.map(({ id }) => id);
  const { place } = connection;
  const serverOfName = (name: string) => {
    // What the config here says of names is about another gateway then.
    if (other !== undefined) return serverAmong(name, ids);
    const isWhole = place !== undefined && place.problems === undefined;
    return (isWhole ? undefined : serverAmong(name, ids)) ?? serverOf(name, place);
  };
  const isTold = ({ kind }: Offered) => kind === "tool" || kind === "prompt";
  const offers = found.offers.map((one) => (isTold(one) ? { ...one, server: serverOfName(one.name) } : one));
  const listing = { ...found, offers };
  const facts = listing.offers.length === 0 ? await connection.about() : undefined;
  return {
    ...listing,
    serverOf: serverOfName,
    asked: options.prompts ? "prompt" : "tool",
    other: lacksServer(listing, place) ? other : undefined,
    words: new Map(servers.map(({ id, lastWords = [] }) => [id, lastWords])),
    cut: cutLists(servers),
    nothingGranted: facts?.grantsNothing ? grantExample(facts, connection) : undefined,
    lacksGrant: facts?.knowsCallers && !facts.grantsNothing && facts.user ? grantExample(facts, connection) : undefined,
  };
}

function lacksServer({ offers, troubles }: Listing, place: Connection["place"]): boolean {
  const seen = new Set([...offers.map(({ server }) => server), ...troubles.map(([id]) => id)]);
  return place?.servers.some(({ id }) => !seen.has(id)) ?? false;
}

function grantExample({ user, role }: GatewayFacts, { place }: Connection): GrantExample {
  return { user, server: place?.servers[0]?.id, mayGrant: role === "admin" };
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

export function listingLines(looked: Looked, width: number): string[] {
  const { offers, troubles, held, words, cut, nothingGranted, lacksGrant } = looked;
  // Resources do not tell their server.
  const hasServers = offers.some(({ kind }) => kind === "tool" || kind === "prompt");
  const rowOf = (name: string, server: string, about: string) => (hasServers ? [name, server, about] : [name, about]);
  const rows = offers.map((one) => rowOf(one.name, one.server ?? "", one.description ?? one.title ?? ""));
  const head = rowOf("NAME", "SERVER", "DESCRIPTION");
  const table =
    rows.length > 0
      ? tableLines([head, ...rows], { width, maxColumn: MAX_COLUMN })
      : [
          "Nothing is offered.",
          ...(nothingGranted ? ["", ...grantLines(nothingGranted)] : []),
          ...(lacksGrant ? ["", ...askForGrantLines(lacksGrant)] : []),
        ];
  const starting = troubles.filter(([, status]) => status === "starting").map(([id]) => plainLine(id));
  const wrong = troubles
    .filter(([, status]) => status !== "starting")
    .map(([id, status, message]) => [id, status, message]);
  const rest = [
    ...(held.length === 0 ? [] : ["", ...heldLines(held.length, looked.asked)]),
    ...(starting.length === 0 ? [] : ["", `Still starting: ${starting.join(", ")}.`]),
    ...(cut.length === 0 ? [] : ["", "Not whole:", ...indented(cut, width).flat()]),
  ];
  if (wrong.length === 0) return [...table, ...rest];
  return [
    ...table,
    ...rest,
    "",
    "Not working:",
    ...indented(wrong, width).flatMap((lines, index) => [
      ...lines,
      ...(words.get(wrong[index]?.[0] ?? "") ?? []).map((said) => `    it wrote: ${plainLine(said)}`),
    ]),
    "",
    `"${PROGRAM} doctor" says what to do about it.`,
  ];
}

/** The lines of each row. */
function indented(rows: readonly string[][], width: number): string[][] {
  return wrappedRows(rows, { width: width - 2 }).map((lines) => lines.map((line) => `  ${line}`));
}

function listingJson({ offers, troubles, held, words, cut, nothingGranted }: Looked): object {
  const entries = offers.map(({ kind, name, server, entry }: Offered) => ({ kind, name, server, entry }));
  const servers = troubles.map(([id, status, message]) => {
    const lastWords = words.get(id) ?? [];
    return [id, { status, ...(message !== "" && { message }), ...(lastWords.length > 0 && { lastWords }) }];
  });
  const inPart = cut.map(([id, message]) => [id, { status: "ok", message }]);
  return {
    offers: entries,
    servers: Object.fromEntries([...servers, ...inPart]),
    ...(held.length > 0 && { held }),
    ...(nothingGranted && { grantsNothing: true }),
  };
}
