/** One thing that a gateway offers, by the name that `list` shows. */

import { nearest } from "../../server/config/nearest.ts";
import { Ending } from "../ending.ts";
import { heldLine } from "../output/held-words.ts";
import { PROGRAM } from "../program-name.ts";
import type { Connection } from "./connect.ts";
import { listOffers, type Offered, type OfferKind, otherConfigOf } from "./offers.ts";

/** The first of these kinds that has the name. Throws Ending. */
export async function findOffer(connection: Connection, name: string, kinds: readonly OfferKind[]): Promise<Offered> {
  const { offers, troubles, held } = await listOffers(connection, kinds);
  const found = offers.find((offer) => offer.name === name);
  if (found) return found;
  if (held.includes(name)) throw new Ending("callFailed", [heldLine(name)]);
  if (connection.place?.servers.some(({ id }) => id === name)) {
    throw new Ending("callFailed", [
      `${JSON.stringify(name)} is a server; "${PROGRAM} list --server ${name}" shows what it has`,
    ]);
  }
  const other = await otherConfigOf(connection, name);
  const names = offers.map((offer) => offer.name);
  const meant = nearest(name, names) ?? names.find((one) => one.endsWith(`.${name}`) || one.endsWith(`__${name}`));
  const broken = troubles.map(([id, status]) => `${id} is ${status}`).join(", ");
  throw new Ending("callFailed", [
    `nothing is called ${JSON.stringify(name)}${meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`}`,
    ...(other ? [other] : []),
    ...(broken ? [`some servers are missing: ${broken}; "${PROGRAM} doctor" says why`] : []),
  ]);
}
