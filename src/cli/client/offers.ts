/** What a gateway offers, as verbs show it. */
import type { GatewayPlace } from "../../server/config/index.ts";
import { type JsonObject, textOf } from "../json.ts";
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

export type Listing = { readonly offers: readonly Offered[]; readonly troubles: ReturnType<typeof troublesIn> };

const METHOD_NOT_FOUND = -32601;

export async function listOffers(
  { client, place }: Pick<Connection, "client" | "place">,
  kinds: readonly OfferKind[],
): Promise<Listing> {
  const offers: Offered[] = [];
  const troubles = new Map<string, Listing["troubles"][number]>();
  for (const kind of kinds) {
    const { method, member, key } = OFFER_KINDS[kind];
    const { entries, meta } = await client.list(method, member).catch((error: unknown) => {
      // A server without resources need not know how to list them.
      if (error instanceof RpcFault && error.code === METHOD_NOT_FOUND) return { entries: [], meta: {} };
      throw error;
    });
    for (const trouble of troublesIn(meta)) troubles.set(trouble[0], trouble);
    offers.push(...entries.map((entry) => describe(kind, textOf(entry[key]) ?? "", entry, place)));
  }
  return { offers, troubles: [...troubles.values()] };
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

/** Which server a name belongs to. Without a config it is what stands before the first dot. */
export function serverOf(name: string, place: GatewayPlace | undefined): string | undefined {
  if (!place) return name.includes(".") ? name.slice(0, name.indexOf(".")) : undefined;
  const separator = place.gateway.naming === "dotted" ? "." : "__";
  const fitting = place.servers.filter(({ segment }) => segment !== "" && name.startsWith(segment + separator));
  const longest = fitting.toSorted((a, b) => b.segment.length - a.segment.length)[0];
  return (longest ?? place.servers.find(({ segment }) => segment === ""))?.id;
}
