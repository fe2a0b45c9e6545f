/** The heap of a running gateway, by way of Node's inspector. */
import type { RunningGateway } from "../kit/gateway.ts";

/** For the environment of the gateway that is to be looked into. */
export const INSPECTABLE = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };

/** Bytes in use once everything that can be collected was. */
export async function heapBytes(gateway: RunningGateway): Promise<number> {
  const [, url = ""] = /listening on (ws:\/\/127\.0\.0\.1:\S+)/.exec(gateway.program.stderr) ?? [];
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const ask = (id: number, method: string) =>
    new Promise<{ readonly usedSize?: number }>((resolve) => {
      socket.addEventListener("message", ({ data }) => {
        const reply = JSON.parse(String(data));
        if (reply.id === id) resolve(reply.result);
      });
      socket.send(JSON.stringify({ id, method }));
    });
  await ask(1, "HeapProfiler.collectGarbage");
  const { usedSize = 0 } = await ask(2, "Runtime.getHeapUsage");
  socket.close();
  return usedSize;
}
