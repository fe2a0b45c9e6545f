import { type Call, copyText, type Payload, type Provider, payload, type SessionRef } from "../../contract/index.ts";

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
    const uri = copyText(call.input.at(["uri"]) ?? '""');
    if (call.method === "resources/unsubscribe") own.delete(uri);
    else own.set(uri, shortened(call, uri));
    if (own.size > 0) this.#subscriptions.set(session.id, own);
    else this.#subscriptions.delete(session.id);
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

/** It is kept for long: without the message that it came in, and without its run, which is over. */
function shortened({ run: _over, ...call }: Call, uri: string): Call {
  return { ...call, input: payload(`{"uri":${uri}}`) };
}

const nobody = { write: () => true, ready: () => Promise.resolve() };
