/** Calls that wait until it is known where the server is. */
import {
  type Call,
  type CallReply,
  type Clock,
  GatewayError,
  type Out,
  type Provider,
  type Timers,
} from "../../contract/index.ts";

const PATIENCE_MS = 5000;
const AWAY = "The server is on its way from one process to another.";

type Waiting = { go(provider: Provider): void; fail(error: GatewayError): void };

export class WaitingCalls {
  readonly #options: { readonly clock: Clock; readonly timers: Timers };
  readonly #calls = new Map<string, Waiting>();

  constructor(options: { readonly clock: Clock; readonly timers: Timers }) {
    this.#options = options;
  }

  /** Runs as soon as there is a provider. Rejects with PROVIDER_UNREACHABLE when there is none in time. */
  add(call: Call, out: Out): Promise<void> {
    const { clock, timers } = this.#options;
    const patience = Math.max(0, Math.min(call.deadline - clock.now(), PATIENCE_MS));
    return new Promise((resolve, reject) => {
      const fail = (error: GatewayError) => {
        this.#calls.delete(call.id);
        timer.cancel();
        reject(error);
      };
      const timer = timers.after(patience, () => fail(new GatewayError("PROVIDER_UNREACHABLE", { message: AWAY })));
      const go = (provider: Provider) => {
        timer.cancel();
        resolve(provider.run(call, out));
      };
      this.#calls.set(call.id, { go, fail });
    });
  }

  reply(callId: string, reply: CallReply): void {
    if (reply.type === "cancel") this.#calls.get(callId)?.fail(new GatewayError("CANCELLED"));
  }

  letGo(provider: Provider): void {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { go } of calls) go(provider);
  }

  close(): void {
    for (const { fail } of [...this.#calls.values()])
      fail(new GatewayError("CANCELLED", { message: "The gateway is closing." }));
  }
}
