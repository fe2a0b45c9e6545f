/** Whole HTTP requests, byte for byte as a case has them. */
import { connect } from "node:net";
import { openHttpClient } from "../kit/http-client.ts";
import { exchange, type Outcome, type Way } from "./ways.ts";

export async function openRawWay(origin: string, log: () => string): Promise<Way> {
  const { session } = await openHttpClient(`${origin}/mcp`, {});
  const url = new URL(origin);
  return {
    name: "HTTP by hand",
    prefix: "files.",
    inCatalog: false,
    send(bytes) {
      const text = bytes.toString("latin1");
      if (text.startsWith("{")) return exchange(`${origin}/mcp`, bytes, { "mcp-session-id": session });
      return rawExchange(Number(url.port), Buffer.from(text.replaceAll("{session}", session), "latin1"));
    },
    rest: () => [],
    log,
    close: () => Promise.resolve(),
  };
}

/** Every request asks for the connection to be closed, so the answer is all that comes. */
function rawExchange(port: number, bytes: Buffer): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
  });
  socket.on("error", () => socket.destroy());
  socket.on("close", () => {
    const [head = "", ...body] = text.split("\r\n\r\n");
    resolve({ status: Number(head.split(" ")[1] ?? 0), body: body.join("\r\n\r\n") });
  });
  return promise;
}
