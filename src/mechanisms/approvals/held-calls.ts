/** How many calls are held in this process. Each of them keeps its input and its timers: nobody may fill a process with them. */
import { GatewayError, type Principal } from "../../contract/index.ts";
import { Shares } from "../sessions/index.ts";

const MAX_OF_CALLER = 200;
const MAX_HELD = 1_000;

export class HeldCalls {
  readonly #shares = new Shares(MAX_HELD, MAX_OF_CALLER);
  #count = 0;

  /** One more is held, until what is returned is called, once. Throws OVERLOADED. */
  enter(principal: Principal): () => void {
    const spent = this.#shares.spent(principal);
    if (spent) throw overloaded(`This ${spent.whose} has ${spent.size} calls that wait for an approval.`);
    if (this.#count >= MAX_HELD) throw overloaded(`${MAX_HELD} calls of all callers wait for an approval here.`);
    this.#shares.take(principal);
    this.#count++;
    return () => {
      this.#shares.giveBack(principal);
      this.#count--;
    };
  }
}

function overloaded(what: string): GatewayError {
  return new GatewayError("OVERLOADED", { message: `${what} Call again when some of them are decided or cancelled.` });
}
