/** Which resources are subscribed to on one upstream session, and by which client sessions. */
import { copyString, decodeString, jsonText, type Payload, payload } from "../../contract/index.ts";
import type { UpstreamSession } from "./upstream-session.ts";

export class Subscriptions {
  readonly #holders = new Map<string, Set<string>>();

  get size(): number {
    return this.#holders.size;
  }

  get uris(): readonly string[] {
    return [...this.#holders.keys()];
  }

  /** False: somebody holds it already, so the server need not hear of it. */
  isNew(uri: string): boolean {
    return !this.#holders.has(uri);
  }

  hold(uri: string, session: string): void {
    const holders = this.#holders.get(uri);
    if (holders) holders.add(session);
    else this.#holders.set(copyString(uri), new Set([session]));
  }

  /** True: nobody holds it any more, so the server must hear of it. */
  drop(uri: string, session: string): boolean {
    const holders = this.#holders.get(uri);
    if (!holders) return true;
    holders.delete(session);
    if (holders.size > 0) return false;
    this.#holders.delete(uri);
    return true;
  }

  /** The client session is over; answers what nobody holds any more. */
  dropSession(session: string): readonly string[] {
    return [...this.#holders]
      .filter(([uri, holders]) => holders.has(session) && this.drop(uri, session))
      .map(([uri]) => uri);
  }

  /** Subscribes on a session that was just opened; again, if it replaces a lost one. */
  async restore(session: UpstreamSession): Promise<void> {
    if (session.modern) return session.modern.listening.update(this.uris);
    await Promise.allSettled(
      [...this.#holders.keys()].map((uri) => session.request("resources/subscribe", uriParams(uri))),
    );
  }

  /** The server need not send these any more. */
  forget(uris: readonly string[], session: UpstreamSession): void {
    if (session.modern) void session.modern.listening.update(this.uris);
    else for (const uri of uris) session.request("resources/unsubscribe", uriParams(uri)).catch(() => undefined);
  }
}

function uriParams(uri: string): Payload {
  return payload(`{"uri":${jsonText(uri)}}`);
}

export function uriOf(input: Payload): string | undefined {
  return decodeString(input.at(["uri"]));
}
