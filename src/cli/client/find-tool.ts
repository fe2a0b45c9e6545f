/** The tool that a call means, on a connection that may call it. */

import { nearest } from "../../server/config/nearest.ts";
import { Ending } from "../ending.ts";
import { heldLine } from "../output/held-words.ts";
import { PROGRAM } from "../program-name.ts";
import { type Connection, cutLists, type ServerState } from "./connect.ts";
import { type Listing, listOffers, type Offered, otherConfigOf, serverAmong } from "./offers.ts";

export type FoundTool = { readonly connection: Connection; readonly tool: Offered; readonly canAsk: boolean };

/** What there is instead. */
type Missed = {
  readonly listing: Listing;
  readonly servers: readonly ServerState[];
  /** Where the config here has a server of the tool's name, and the gateway another config. */
  readonly other: string | undefined;
};

export type FindOptions = {
  /** Opens a connection whose client can be asked questions, or one that shares its upstream sessions with others. */
  readonly open: (canAsk: boolean) => Promise<Connection>;
  /** Whether there is somebody to ask. */
  readonly hasTerminal: boolean;
  /** Whether the tool may ask: yes, no, or only when it is not offered otherwise. */
  readonly questions: boolean | undefined;
};

/**
 * A client that can be asked has upstream sessions of its own: every server starts once more for it. So the first look is
 * without; servers that offer a tool only to who can be asked are looked at again. Throws Ending.
 */
export async function findTool(name: string, { open, hasTerminal, questions }: FindOptions): Promise<FoundTool> {
  const first = await look(name, open, hasTerminal && questions === true);
  if ("tool" in first) return first;
  const isKnown = suggest(name, first.listing) !== "" || first.listing.held.includes(name);
  const mayAsk = hasTerminal && questions === undefined && !isKnown;
  const second = mayAsk ? await look(name, open, true) : first;
  if ("tool" in second) return second;
  throw describeMissing(name, second);
}

async function look(name: string, open: FindOptions["open"], canAsk: boolean): Promise<FoundTool | Missed> {
  const connection = await open(canAsk);
  let tool: Offered | undefined;
  try {
    const listing = await listOffers(connection, ["tool"]);
    tool = listing.offers.find((offer) => offer.name === name);
    return tool
      ? { connection, tool, canAsk }
      : { listing, servers: await connection.servers(), other: await otherConfigOf(connection, name) };
  } finally {
    if (!tool) await connection.close();
  }
}

/** What was probably meant; "" for nothing near. */
function suggest(name: string, { offers }: Listing): string {
  const names = offers.map((offer) => offer.name);
  const meant = nearest(name, names);
  const ends = names.filter((one) => one.endsWith(`.${name}`) || one.endsWith(`__${name}`));
  return (meant === undefined ? ends : [meant]).map((one) => `"${one}"`).join(" or ");
}

/** Of a tool whose server offers none, because of what is wrong with it; undefined: it is none of such a server. */
function awayLine(name: string, { offers, troubles }: Listing): string | undefined {
  const ids = troubles.map(([id]) => id);
  const found = troubles.find(([id]) => id === serverAmong(name, ids));
  if (!found || offers.some((offer) => serverAmong(offer.name, [found[0]]) !== undefined)) return undefined;
  const [id, status, why] = found;
  return `${name} is not offered now: ${id} is ${status}${why === "" ? "" : `: ${why}`}; "${PROGRAM} doctor" says what to do`;
}

function describeMissing(name: string, { listing, servers, other }: Missed): Ending {
  const disabled = servers.find(
    ({ id, status }) => status === "disabled" && /^(?:\.|__)/.test(name.slice(id.length)) && name.startsWith(id),
  );
  if (disabled) {
    const cure = `"${PROGRAM} enable ${disabled.id}" takes it in again`;
    return new Ending("callFailed", [
      `no tool is called ${JSON.stringify(name)}: the server ${disabled.id} is disabled; ${cure}`,
    ]);
  }
  const away = other === undefined ? awayLine(name, listing) : undefined;
  if (away !== undefined) return new Ending("callFailed", [away]);
  if (listing.held.includes(name)) return new Ending("callFailed", [heldLine(name)]);
  const hint = suggest(name, listing);
  const broken = listing.troubles.map(([id, status]) => `${id} is ${status}`).join(", ");
  return new Ending("callFailed", [
    `no tool is called ${JSON.stringify(name)}; ${hint ? `did you mean ${hint}?` : `"${PROGRAM} list" shows all of them`}`,
    ...(other ? [other] : []),
    ...(broken ? [`some servers are missing: ${broken}; "${PROGRAM} doctor" says why`] : []),
    ...cutLists(servers).map(([id, message]) => `not all of ${id} is offered: ${message}`),
  ]);
}
