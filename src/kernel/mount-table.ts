/** Which provider stands where now, and those that were taken out and whose calls have not ended yet. */
import type { CallReply } from "../contract/index.ts";
import type { Mount } from "./catalog/mount.ts";

export class MountTable {
  readonly #byId = new Map<string, Mount>();
  readonly leaving = new Set<Mount>();

  get all(): readonly Mount[] {
    return [...this.#byId.values()];
  }

  find(id: string): Mount | undefined {
    return this.#byId.get(id);
  }

  add(mount: Mount): void {
    this.#byId.set(mount.provider.id, mount);
  }

  /** These and no others from now on. Gives those that had to go. */
  replace(mounts: readonly Mount[]): Mount[] {
    const gone = this.all.filter((mount) => !mounts.includes(mount));
    for (const mount of gone) {
      mount.isLeaving = true;
      this.leaving.add(mount);
    }
    this.#byId.clear();
    for (const mount of mounts) this.add(mount);
    return gone;
  }

  /** A call may have begun on a provider that has left since: whoever does not know the call ignores this. */
  reply(provider: string, callId: string, reply: CallReply): void {
    this.#byId.get(provider)?.provider.reply(callId, reply);
    for (const { provider: former } of this.leaving) if (former.id === provider) former.reply(callId, reply);
  }
}
