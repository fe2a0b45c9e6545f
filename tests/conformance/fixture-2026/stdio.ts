/** The same on stdin and stdout: one message a line, and a notification where HTTP closes a stream. */
import { createInterface } from "node:readline";
import type { Json } from "../sdk.ts";
import { respond } from "./fixture.ts";
import { type Request, readEnvelope } from "./protocol.ts";

export function serveStdio(): void {
  const running = new Map<unknown, AbortController>();

  function send(message: Json): void {
    process.stdout.write(`${JSON.stringify(message)}\n`);
  }

  async function answer({ id, method, params = {} }: Json & { params?: Json }): Promise<void> {
    if (method === "notifications/cancelled") running.get(params.requestId)?.abort();
    if (id === undefined || method === undefined) return;
    const controller = new AbortController();
    running.set(id, controller);
    const request = { id, method, params } as Request;
    const answered = await respond(request, () => readEnvelope(request), { send, signal: controller.signal });
    running.delete(id);
    if (answered !== undefined && !controller.signal.aborted) send(answered);
  }

  createInterface({ input: process.stdin }).on("line", (line) => void answer(JSON.parse(line)));
}
