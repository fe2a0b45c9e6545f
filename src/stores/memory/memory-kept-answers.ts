import type { KeptRoom } from "../../contract/index.ts";

type Kept = { readonly bytes: number; readonly rooms: readonly string[] };

/** The oldest first. */
type Room = { readonly answers: Map<string, Kept>; bytes: number };

/** The answers of named calls in their rooms. What one costs does not grow with those that are there. */
export class MemoryKeptAnswers {
  readonly #rooms = new Map<string, Room>();
  readonly #isThere: (key: string) => boolean;

  /** `isThere`: whether the time of an answer is not over. */
  constructor(isThere: (key: string) => boolean) {
    this.#isThere = isThere;
  }

  /** Gives back the rooms in which older ones had to go for it; `forget` is told which. */
  keep(key: string, bytes: number, rooms: readonly KeptRoom[], forget: (key: string) => void): readonly KeptRoom[] {
    const kept = { bytes, rooms: rooms.map(({ name }) => name) };
    for (const name of kept.rooms) this.#enter(name, key, kept);
    return rooms.filter((room) => this.#makeRoom(room, key, forget));
  }

  /** Whether any had to go whose time was not over anyway. */
  #makeRoom({ name, maxItems, maxBytes }: KeptRoom, newest: string, forget: (key: string) => void): boolean {
    let hasForgotten = false;
    const { answers } = this.#roomOf(name);
    for (const [old, kept] of answers) {
      const isOver = answers.size > maxItems || this.#roomOf(name).bytes > maxBytes;
      if (old === newest || (this.#isThere(old) && !isOver)) break;
      hasForgotten ||= this.#isThere(old);
      for (const one of kept.rooms) this.#leave(one, old);
      forget(old);
    }
    return hasForgotten;
  }

  #enter(name: string, key: string, kept: Kept): void {
    this.#leave(name, key);
    const room = this.#roomOf(name);
    room.answers.set(key, kept);
    room.bytes += kept.bytes;
    this.#rooms.set(name, room);
  }

  #leave(name: string, key: string): void {
    const room = this.#rooms.get(name);
    const kept = room?.answers.get(key);
    if (room === undefined || kept === undefined) return;
    room.answers.delete(key);
    room.bytes -= kept.bytes;
    if (room.answers.size === 0) this.#rooms.delete(name);
  }

  #roomOf(name: string): Room {
    return this.#rooms.get(name) ?? { answers: new Map(), bytes: 0 };
  }
}
