/** The calls that the first run makes by itself, so that a newcomer has seen one, and one that waits to be approved. */
import { openRunning } from "./client/connect.ts";
import { objectOf } from "./json.ts";
import { plainText } from "./output/plain.ts";
import { resultText } from "./output/result-text.ts";

export type DemoCall = {
  readonly words: string;
  readonly answer: string;
  /** What waits for somebody's yes; unset where nothing does. */
  readonly waiting?: string;
};

const TIMEOUT_MS = 5_000;

/** Undefined when it did not work: then there is nothing to show, and the log says why. */
export async function makeDemoCall(url: string): Promise<DemoCall | undefined> {
  try {
    const running = await openRunning(new URL(url), {}, TIMEOUT_MS);
    if (!running) return undefined;
    const result = await running.client.request("tools/call", { name: "demo.greet", arguments: { name: "Ada" } });
    const held = await running.client.request("tools/call", { name: "demo.forget", arguments: { name: "Ada" } });
    await running.close();
    const isWaiting = objectOf(held._meta)["x-mcpax-gate"] !== undefined;
    return {
      words: "call demo.greet name=Ada",
      answer: plainText(resultText(result)).trim(),
      ...(isWaiting && { waiting: "call demo.forget name=Ada" }),
    };
  } catch {
    return undefined;
  }
}
