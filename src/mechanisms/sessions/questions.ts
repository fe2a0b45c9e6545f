/** Questions to a client outside any call. */
import { type Answer, type Ask, GatewayError } from "../../contract/index.ts";
import type { Outbox } from "./outbox.ts";
import type { Session } from "./session.ts";

/** Puts the question to the session's own stream. Rejects when the client cannot be asked it, or the asker gives up. */
export function askSession(session: Session, outbox: () => Outbox, ask: Ask, signal: AbortSignal): Promise<Answer> {
  if (signal.aborted) return Promise.reject(new GatewayError("CANCELLED"));
  const known = session.voice.answer?.(session, ask);
  if (known) return Promise.resolve(known);
  return new Promise<Answer>((resolve, reject) => {
    const withdraw = () => {
      session.asks?.delete(id);
      if (!outbox().remove(`ask ${id}`)) outbox().push({ type: "notice", text: session.voice.withdrawal(id) });
      reject(new GatewayError("CANCELLED"));
    };
    const settle = (answer: Answer | GatewayError) => {
      signal.removeEventListener("abort", withdraw);
      if (GatewayError.is(answer)) reject(answer);
      else resolve(answer);
    };
    const id = session.addAsk({ key: ask.key, settle, isAnswered: false });
    const text = session.voice.question(session, id, ask);
    if (text === undefined) {
      session.asks?.delete(id);
      return reject(noWay("the client did not declare that it can be asked this"));
    }
    signal.addEventListener("abort", withdraw, { once: true });
    outbox().push({ type: "ask", text, key: `ask ${id}` });
  });
}

export function noWay(message: string): GatewayError {
  return new GatewayError("NOT_ALLOWED", { message: `The client cannot be asked: ${message}.` });
}
