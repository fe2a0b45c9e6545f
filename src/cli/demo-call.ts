/** The call that the first run makes by itself, so that a newcomer has seen one. */
import { openRunning } from "./client/connect.ts";
import { resultText } from "./output/result-text.ts";

export type DemoCall = { readonly words: string; readonly answer: string };

const TIMEOUT_MS = 5_000;

/** Undefined when it did not work: then there is nothing to show, and the log says why. */
export async function makeDemoCall(url: string): Promise<DemoCall | undefined> {
  try {
    const running = await openRunning(new URL(url), {}, TIMEOUT_MS);
    if (!running) return undefined;
    const result = await running.client.request("tools/call", { name: "demo.greet", arguments: { name: "Ada" } });
    await running.close();
    return { words: "call demo.greet name=Ada", answer: resultText(result, true).trim() };
  } catch {
    return undefined;
  }
}
