/** How many answers of named calls are kept for whom, and the word about it when there are more. */
import { DEFAULT_TENANT, identityOf, type KeptRoom, type Log, type Principal } from "../../contract/index.ts";

const MIB = 1024 * 1024;
const OF_CALLER = { maxItems: 10_000, maxBytes: 64 * MIB };
/** Of one other than the platform's own: whoever makes tokens cannot take the room of the others with them. */
const OF_TENANT = { maxItems: 50_000, maxBytes: 256 * MIB };
const OF_ALL = { maxItems: 100_000, maxBytes: 512 * MIB };
/** Rooms that are remembered as told of. */
const MAX_TOLD = 1_000;

/** A user has one, by however many tokens it comes. */
export function roomsOf(principal: Principal): readonly KeptRoom[] {
  const { tenant, user, proof } = identityOf(principal);
  const isUser = user !== "" && proof !== "local" && proof !== "none";
  const rooms: KeptRoom[] = [
    { name: JSON.stringify(isUser ? [tenant, user] : [tenant, "", principal.id]), ...OF_CALLER },
  ];
  if (tenant !== DEFAULT_TENANT) rooms.push({ name: JSON.stringify([tenant]), ...OF_TENANT });
  return [...rooms, { name: "[]", ...OF_ALL }];
}

/** Tells of each room once that it was full. */
export class CrowdedRooms {
  readonly #log: Log;
  readonly #told = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  note(rooms: readonly KeptRoom[], principal: Principal): void {
    for (const { name, maxItems, maxBytes } of rooms) {
      if (this.#told.has(name)) continue;
      if (this.#told.size >= MAX_TOLD) this.#told.clear();
      this.#told.add(name);
      this.#log.warn(
        "answers of calls with idempotency keys are forgotten before 24 hours are over: there are too many",
        {
          room: name,
          principal: principal.id,
          maxItems,
          maxBytes,
        },
      );
    }
  }
}
