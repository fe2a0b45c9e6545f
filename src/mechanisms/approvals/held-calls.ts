/** How many calls are held in this process. Each of them keeps its input and its timers: nobody may fill a process with them. */
import { GatewayError, identityOf, type Principal } from "../../contract/index.ts";

const MAX_OF_CALLER = 200;
const MAX_HELD = 1_000;

export class HeldCalls {
  readonly #ofCaller = new Map<string, number>();
  #count = 0;

  /** One more is held, until what is returned is called, once. Throws OVERLOADED. */
  enter(principal: Principal): () => void {
    const caller = JSON.stringify([identityOf(principal).tenant, principal.id]);
    const own = this.#ofCaller.get(caller) ?? 0;
    if (own >= MAX_OF_CALLER) throw overloaded(`This caller has ${MAX_OF_CALLER} calls that wait for an approval.`);
    if (this.#count >= MAX_HELD) throw overloaded(`${MAX_HELD} calls of all callers wait for an approval here.`);
    this.#ofCaller.set(caller, own + 1);
    this.#count++;
    return () => this.#leave(caller);
  }

  #leave(caller: string): void {
    const others = (this.#ofCaller.get(caller) ?? 1) - 1;
    if (others === 0) this.#ofCaller.delete(caller);
    else this.#ofCaller.set(caller, others);
    this.#count--;
  }
}

function overloaded(what: string): GatewayError {
  return new GatewayError("OVERLOADED", { message: `${what} Call again when some of them are decided or cancelled.` });
}
