/** Opens many sessions and leaves them idle, with or without a GET stream each, for the memory figures. */
import { connect, type Socket } from "node:net";
import { HttpConnection } from "./http-connection.ts";
import { StreamableSession } from "./streamable-session.ts";

const CONNECTIONS = 8;
const held: Socket[] = [];

/** Resolves when the stream's head has come; the socket stays open until `releaseStreams`. */
function holdStream(url: string, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
    held.push(socket);
    socket.write(request);
    socket.on("error", reject);
    socket.on("data", (data) => {
      if (data.toString("latin1", 0, 12).endsWith("200")) resolve();
      else if (data.toString("latin1", 0, 5) === "HTTP/") reject(new Error(`GET: ${data.toString("latin1", 0, 30)}`));
    });
  });
}

/** Sessions take turns on a few connections, which close at the end: only the streams stay. */
export async function openIdleSessions(url: string, count: number, hasStream: boolean): Promise<void> {
  let left = count;
  const open = async (): Promise<void> => {
    const connection = new HttpConnection(Number(new URL(url).port));
    while (left-- > 0) {
      const session = new StreamableSession(url, connection);
      await session.open();
      if (session.id === "") throw new Error("the server issued no session id");
      if (hasStream) await holdStream(url, session.streamRequest());
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, open));
}

export function releaseStreams(): void {
  for (const socket of held.splice(0)) socket.destroy();
}
