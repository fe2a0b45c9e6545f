import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { expect, test } from "vitest";
import { listenOn } from "./listen-on.ts";

async function listening(host: string, port: number, listen = listenOn) {
  const server = createServer((socket) => socket.end("hello"));
  listen(server, host, port);
  try {
    await once(server, "listening");
  } catch (error) {
    return { server, error: error as NodeJS.ErrnoException };
  }
  return { server, address: server.address() as AddressInfo };
}

test.each(["127.0.0.1", "localhost", "::1"])("is reached on %s", async (host) => {
  const { server, address } = await listening(host, 0);
  const [text] = await once(connect(address?.port ?? 0, host), "data");
  expect(String(text)).toBe("hello");
  server.close();
});

test("says that an address is taken, in the words of Node", async () => {
  const { server, address } = await listening("127.0.0.1", 0);
  const port = address?.port ?? 0;
  const { error: own } = await listening("127.0.0.1", port, (other, host) => other.listen({ host, port }));
  const { error } = await listening("127.0.0.1", port);
  expect(error).toMatchObject({ code: "EADDRINUSE", message: own?.message });
  server.close();
});
