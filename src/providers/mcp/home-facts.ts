/**
 * A shared server that runs in another process of ours is reached there as one over HTTP. What that process knows of the server
 * itself comes with each list: by it the server is here what it is there, and not what the process that stands before it is.
 */
import {
  decodeString,
  HOME_FACTS_KEY,
  type Offer,
  type Payload,
  type ProviderState,
  type ProviderStatus,
  payload,
} from "../../contract/index.ts";
import { revision20260728 } from "../../wire/mcp/2026-07-28/index.ts";
import type { Declarations } from "./declarations.ts";
import type { UpstreamSession } from "./upstream-session.ts";

export type HomeFacts = Omit<ProviderState, "status"> & { readonly status: ProviderStatus };

const STATUSES: readonly string[] = [
  "starting",
  "ok",
  "unreachable",
  "auth_required",
  "invalid",
] satisfies ProviderStatus[];
/** What that process says in lists to its own clients: this one finds out for itself what it has to say to its own. */
const ITS_WORDS = [HOME_FACTS_KEY, "dev.isthmus/servers", "dev.isthmus/pins"] as const;

/** Of lists that were read just now; undefined: a process of an older program, which says nothing of it. */
export function factsIn(listed: readonly Offer[], declarations: Declarations): HomeFacts | undefined {
  const extras = listed.find(({ extras }) => extras.includes(HOME_FACTS_KEY))?.extras;
  const text = extras === undefined ? undefined : payload(`{${extras}}`).at(["_meta", HOME_FACTS_KEY]);
  if (text === undefined) return undefined;
  const facts = payload(text);
  const status = decodeString(facts.at(["status"])) ?? "";
  if (!STATUSES.includes(status)) return undefined;
  const [message, protocol] = [decodeString(facts.at(["message"])), decodeString(facts.at(["protocol"]))];
  const capabilities = facts.at(["capabilities"]);
  const declared = capabilities && declarations.shared(capabilities, decodeString(facts.at(["instructions"])));
  return {
    status: status as ProviderStatus,
    ...(message !== undefined && { message }),
    ...(declared && { about: { ...declared, ...(protocol !== undefined && { protocol }) } }),
  };
}

/** The lists as the server itself has written them. */
export function withoutHome(listed: readonly Offer[]): readonly Offer[] {
  return listed.map((offer) => {
    if (!offer.extras.includes("dev.isthmus/")) return offer;
    let members = payload(`{${offer.extras}}`);
    for (const key of ITS_WORDS) members = members.splice(["_meta", key]);
    if (members.at(["_meta"]) === "{}") members = members.splice(["_meta"]);
    return { ...offer, extras: members.text.slice(1, -1) };
  });
}

type Spoken = { readonly isModern: boolean; readonly capabilities: Payload | undefined };

/** How the server itself speaks and what it declares, wherever it runs. */
export function spokenBy({ home, modern, agreement }: UpstreamSession): Spoken {
  const { capabilities, protocol } = home?.about ?? {};
  if (protocol === undefined) return { isModern: modern !== undefined, capabilities: agreement?.capabilities };
  return { isModern: protocol === revision20260728.version, capabilities };
}
