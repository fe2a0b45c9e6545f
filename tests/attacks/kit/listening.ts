/** Streams of MCP 2026-07-28 on which a client listens, held open. */
import { modern } from "../../kit/modern-client.ts";

export type Listening = {
  readonly status: number;
  /** What came first: the acknowledgement, or the refusal. */
  readonly text: string;
  close(): void;
};

export async function listenTo(
  origin: string,
  notifications: object,
  { headers = {}, capabilities = {} }: { headers?: Record<string, string>; capabilities?: object } = {},
): Promise<Listening> {
  const { body, headers: more } = modern("subscriptions/listen", { notifications }, { capabilities });
  const leaving = new AbortController();
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...more, ...headers },
    body: body as string,
    signal: leaving.signal,
  });
  const reader = response.body?.getReader();
  let text = "";
  while (reader && !/^data: .*\n|^\{.*\}$/m.test(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += Buffer.from(value).toString();
  }
  return { status: response.status, text, close: () => leaving.abort() };
}
