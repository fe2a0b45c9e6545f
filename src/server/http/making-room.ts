/**
 * Who gives way where there are as many connections as there may be: first those on which nobody has waited for anything for a while,
 * then those of callers who have more than their share, then those that wait for their own clients, or have only just come.
 */
import type { Holder } from "../../contract/index.ts";

/**
 * `idle`: nobody waits for anything. `stalled`: what is waited for is its client, who has not sent all of a request, has asked for
 * more than it has turns, or does not read. `busy`: a client waits for an answer, or listens.
 */
export type Use = "idle" | "stalled" | "busy";

export interface Occupant {
  readonly use: Use;
  /** In ticks: since when nothing has come, or since when it is busy. */
  readonly since: number;
}

export type Occupants<Client> = {
  /** In the order in which they came. */
  readonly clients: Iterable<Client>;
  /** So many there may be. */
  readonly most: number;
  readonly tick: number;
  /** By name or by address. */
  holderOf(client: Client): Holder;
  /** Undefined: whoever asks is not known by name, or nobody asks. */
  callerOf(client: Client): Holder | undefined;
};

/** In ticks: who has only just come, or has had an answer just now, is about to ask. */
const FRESH = 2;
/** What is said to those who ask for something. */
export const TOO_MANY = "too many connections";

/** Of all that there may be: so many give way at once, because to find them takes a look at all. */
const CLOSED_PART = 1 / 64;
/** Of all that there may be: what one caller has at most while others come in vain, and what its tenant has. */
const CALLER_PART = 1 / 4;
const TENANT_PART = 1 / 2;

/** How many give way at once. */
export function roomMade(most: number): number {
  return Math.ceil(most * CLOSED_PART);
}

/** Empty: everybody is busy, and nobody has too much. */
export function whoGivesWay<Client extends Occupant>(occupants: Occupants<Client>): readonly Client[] {
  const { clients, most, tick, holderOf, callerOf } = occupants;
  const count = roomMade(most);
  const [idle, waiting, used]: [Client[], Client[], Client[]] = [[], [], []];
  for (const client of clients) {
    if (client.use !== "idle") used.push(client);
    if (client.use === "idle" && tick - client.since >= FRESH) idle.push(client);
    else if (client.use !== "busy") waiting.push(client);
  }
  if (idle.length > 0) return longest(idle, count);
  const callers = new Map(used.map((client) => [client, callerOf(client)]));
  const greedy = ofTheGreediest(callers, most, count);
  return greedy.length > 0 ? greedy : ofTheMost(waiting, holderOf, count);
}

function longest<Client extends Occupant>(clients: Client[], count: number): Client[] {
  return clients.sort((one, other) => one.since - other.since).slice(0, count);
}

/** The newest ones: whoever has too much keeps what it had first. */
function ofTheGreediest<Client extends Occupant>(
  callers: ReadonlyMap<Client, Holder | undefined>,
  most: number,
  count: number,
): Client[] {
  const nameOf = (client: Client) => callers.get(client)?.name;
  const ofCaller = largest(groupBy(callers.keys(), nameOf));
  const tooMany = ofCaller.length - Math.floor(most * CALLER_PART);
  if (tooMany > 0) return newest(ofCaller, Math.min(count, tooMany));
  const ofTenant = largest(groupBy(callers.keys(), (client) => callers.get(client)?.group));
  const tooManyOfTenant = ofTenant.length - Math.floor(most * TENANT_PART);
  if (tooManyOfTenant <= 0) return [];
  // Of its callers, who has most.
  return newest(largest(groupBy(ofTenant, nameOf)), Math.min(count, tooManyOfTenant));
}

function newest<Client extends Occupant>(clients: Client[], count: number): Client[] {
  return clients.sort((one, other) => one.since - other.since).slice(-count);
}

/** Of whoever has most of them, and of others only where they have as many. */
function ofTheMost<Client extends Occupant>(
  waiting: readonly Client[],
  holderOf: (client: Client) => Holder,
  count: number,
): Client[] {
  const byHolder = groupBy(waiting, (client) => holderOf(client).name);
  const most = largest(byHolder).length;
  const theirs = [...byHolder.values()].filter(({ length }) => length === most).flat();
  return longest(theirs, count);
}

function groupBy<Client>(
  clients: Iterable<Client>,
  nameOf: (client: Client) => string | undefined,
): Map<string, Client[]> {
  const groups = new Map<string, Client[]>();
  for (const client of clients) {
    const name = nameOf(client);
    if (name === undefined) continue;
    const group = groups.get(name);
    if (group) group.push(client);
    else groups.set(name, [client]);
  }
  return groups;
}

function largest<Client>(groups: ReadonlyMap<string, Client[]>): Client[] {
  let found: Client[] = [];
  for (const group of groups.values()) if (group.length > found.length) found = group;
  return found;
}
