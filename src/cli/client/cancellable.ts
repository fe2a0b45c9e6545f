import { Ending } from "../ending.ts";
import type { JsonObject } from "../json.ts";

/** Ctrl-C cancels on the server and ends with its own code; a second one ends the program at once. */
export async function cancellable(
  start: (onSent: (id: number) => void) => Promise<JsonObject>,
  cancel: (id: number) => Promise<void>,
): Promise<JsonObject> {
  const cancelled = Promise.withResolvers<never>();
  let id = 0;
  let isInterrupted = false;
  const onSignal = () => {
    isInterrupted = true;
    cancel(id).then(cancelled.reject, cancelled.reject);
  };
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    const started = start((sent) => {
      id = sent;
    });
    return await Promise.race([started, cancelled.promise]);
  } catch (error) {
    // A server may also end a cancelled call before the cancel itself was answered.
    throw isInterrupted ? new Ending("interrupted", ["cancelled"]) : error;
  } finally {
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}
