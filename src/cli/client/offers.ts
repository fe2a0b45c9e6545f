/** What a gateway offers, as verbs show it. */
import { segmentOf } from "../../contract/index.ts";
import type { GatewayPlace } from "../../server/config/index.ts";
import { type JsonObject, objectOf, textOf } from "../json.ts";
import { isSignInTool, waitsForSignIn } from "../sign-in.ts";
import type { Connection } from "./connect.ts";
import { troublesIn } from "./connect.ts";
import { RpcFault } from "./mcp-client.ts";

export const OFFER_KINDS = {
  tool: { method: "tools/list", member: "tools", key: "name" },
  resource: { method: "resources/list", member: "resources", key: "uri" },
  template: { method: "resources/templates/list", member: "resourceTemplates", key: "uriTemplate" },
  prompt: { method: "prompts/list", member: "prompts", key: "name" },
} as const;

export type OfferKind = keyof typeof OFFER_KINDS;

export type Offered = {
  readonly kind: OfferKind;
  /** What it is called or read by. */
  readonly name: string;
  /** The id of its server, where that can be told. */
  readonly server: string | undefined;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** As the server describes it. */
  readonly entry: JsonObject;
};

export type Listing = {
  readonly offers: readonly Offered[];
  readonly troubles: ReturnType<typeof troublesIn>;
  /** The names of what is not offered because it is not what it was when it was first seen. */
  readonly held: readonly string[];
};

const METHOD_NOT_FOUND = -32601;

export async function listOffers(connection: Listed, kinds: readonly OfferKind[]): Promise<Listing> {
  const offers: Offered[] = [];
  const troubles = new Map<string, Listing["troubles"][number]>();
  const held = new Set<string>();
  for (const kind of kinds) {
    const { entries, meta } = await entriesOf(connection, kind);
    for (const trouble of troublesIn(meta)) troubles.set(trouble[0], trouble);
    for (const name of heldIn(meta)) held.add(name);
    offers.push(...describeAll(kind, entries, connection));
  }
  const waiting = [...troubles.values()].filter(([, status, message]) => waitsForSignIn(status, message));
  const used = waiting.length === 0 ? new Set() : usedOf(kinds.includes("tool") ? offers : await toolsOf(connection));
  const isTrouble = (trouble: Listing["troubles"][number]) => !(waiting.includes(trouble) && used.has(trouble[0]));
  return { offers, troubles: [...troubles.values()].filter(isTrouble), held: [...held] };
}

type Listed = Pick<Connection, "client" | "place">;

async function toolsOf(connection: Listed): Promise<readonly Offered[]> {
  return describeAll("tool", (await entriesOf(connection, "tool")).entries, connection);
}

/** Of a server that waits for others to sign in, a caller who has done so is offered the tools. */
function usedOf(offers: readonly Offered[]): ReadonlySet<unknown> {
  return new Set(offers.filter(({ kind, name }) => kind === "tool" && !isSignInTool(name)).map(({ server }) => server));
}

async function entriesOf({ client }: Listed, kind: OfferKind): Promise<{ entries: JsonObject[]; meta: JsonObject }> {
  const { method, member } = OFFER_KINDS[kind];
  return await client.list(method, member).catch((error: unknown) => {
    // A server without resources need not know how to list them.
    if (error instanceof RpcFault && error.code === METHOD_NOT_FOUND) return { entries: [], meta: {} };
    throw error;
  });
}

function heldIn(meta: JsonObject): string[] {
  const remarks = Object.entries(objectOf(meta["dev.isthmus/pins"]));
  return remarks.flatMap(([name, remark]) => (objectOf(remark).status === "held" ? [name] : []));
}

function describeAll(kind: OfferKind, entries: readonly JsonObject[], { place }: Listed): Offered[] {
  return entries.map((entry) => describe(kind, textOf(entry[OFFER_KINDS[kind].key]) ?? "", entry, place));
}

function describe(kind: OfferKind, name: string, entry: JsonObject, place: GatewayPlace | undefined): Offered {
  const server = kind === "tool" || kind === "prompt" ? serverOf(name, place) : undefined;
  return { kind, name, server, title: textOf(entry.title), description: textOf(entry.description), entry };
}

/** Why a name is missing that belongs to a server of the config here: the gateway may have another config. */
export async function otherConfigOf(connection: Connection, name: string): Promise<string | undefined> {
  const { place } = connection;
  return place && serverOf(name, place) !== undefined ? await connection.otherConfig?.() : undefined;
}

/** Which of these a name belongs to, by their ids: where a gateway has given it another prefix, that cannot be told. */
export function serverAmong(name: string, ids: readonly string[]): string | undefined {
  const fitting = ids.filter((id) => [".", "__"].some((separator) => name.startsWith(segmentOf(id) + separator)));
  return fitting.toSorted((a, b) => b.length - a.length)[0];
}

/** Which server a name belongs to. Without a config, or where one cannot be read whole, it is what stands before the first dot. */
export function serverOf(name: string, place: GatewayPlace | undefined): string | undefined {
  const prefix = name.includes(".") ? name.slice(0, name.indexOf(".")) : undefined;
  if (!place) return prefix;
  const separator = place.gateway.naming === "dotted" ? "." : "__";
  const fitting = place.servers.filter(({ segment }) => segment !== "" && name.startsWith(segment + separator));
  const longest = fitting.toSorted((a, b) => b.segment.length - a.segment.length)[0];
  const found = longest ?? place.servers.find(({ segment }) => segment === "");
  return found?.id ?? (place.problems && prefix);
}
