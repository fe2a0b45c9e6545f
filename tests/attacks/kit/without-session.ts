/** A client of 2026-07-28, which has no session: its requests, and what it hears on a stream of its own. */
import { expect } from "vitest";
import { modern } from "../../kit/modern-client.ts";

export type WithoutSession = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
};

export function sendModern(
  { url, headers, signal }: WithoutSession,
  method: string,
  params: Record<string, unknown>,
): Promise<Response> {
  const { body, headers: said } = modern(method, params);
  const accept = "application/json, text/event-stream";
  const all = { "content-type": "application/json", accept, ...said, ...headers };
  return fetch(url, { method: "POST", body: body as string, headers: all, signal });
}

/** Resolves when the stream has begun, to what gives all that was heard so far. */
export async function listen(client: WithoutSession, notifications: object): Promise<() => string> {
  let heard = "";
  const stream = await sendModern(client, "subscriptions/listen", { notifications });
  const reading = async () => {
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) heard += chunk;
  };
  reading().catch(() => undefined); // the test is over
  await expect.poll(() => heard, { timeout: 10_000 }).toContain("subscriptions/acknowledged");
  return () => heard;
}
