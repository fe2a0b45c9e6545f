import type { Call, Payload, Provider, SessionRef } from "../../contract/index.ts";

/**
 * What sessions want of a shared server: the resources they hear about, and their log levels. It outlives every instance of
 * the server: the next one is told again.
 */
export class Wishes {
  /** By session and resource. */
  readonly #subscriptions = new Map<string, Map<string, Call>>();
  readonly #levels = new Map<string, { readonly session: SessionRef; readonly input: Payload }>();

  /** A subscription, or its end, was taken by the server. */
  keep(call: Call): void {
    const { session } = call;
    if (!session || session.isEphemeral) return;
    const own = this.#subscriptions.get(session.id) ?? new Map<string, Call>();
    const uri = call.input.at(["uri"]) ?? "";
    if (call.method === "resources/unsubscribe") own.delete(uri);
    else own.set(uri, call);
    this.#subscriptions.set(session.id, own);
  }

  keepLevel(session: SessionRef, input: Payload): void {
    if (!session.isEphemeral) this.#levels.set(session.id, { session, input });
  }

  drop(session: string): void {
    this.#subscriptions.delete(session);
    this.#levels.delete(session);
  }

  /** Nobody waits for it: what an instance does not take is as if it had never told of it. */
  tell(provider: Provider, deadline: number): void {
    for (const { session, input } of this.#levels.values()) provider.notify(session, "logging/setLevel", input);
    for (const own of this.#subscriptions.values())
      for (const call of own.values())
        void provider.run({ ...call, id: `${call.id}+`, deadline }, nobody).catch(() => undefined);
  }
}

const nobody = { write: () => true, ready: () => Promise.resolve() };
