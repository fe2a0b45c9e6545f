/**
 * A recording MCP server that is a child of the gateway. The child only ties its pipes to a socket of the test: what
 * it reads and writes is decided here.
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { Offers } from "./kit/handshake.ts";
import { Recorder, type Upstream } from "./kit/recording.ts";

const CHILD = fileURLToPath(new URL("./kit/pipe-child.mjs", import.meta.url));

export async function startPipeUpstream(offers: Offers): Promise<Upstream> {
  const recorder = new Recorder(offers);
  const sockets = new Set<Socket>();

  const server = createServer((socket) => {
    sockets.add(socket.setNoDelay());
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const write = (text: string) => void socket.write(lineText(text), "latin1");
    let rest = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) recorder.take(line, { send: write, answer: write });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    received: recorder.received,
    address: `command = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(CHILD)}, "${port}"]`,
    say(text) {
      [...sockets].at(-1)?.write(lineText(text), "latin1");
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** A line end between tokens is white space like any other; on a pipe it would end the message. */
function lineText(text: string): string {
  return `${text.replace(/[\r\n]/g, " ")}\n`;
}
