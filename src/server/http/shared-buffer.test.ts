import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { rawRig } from "./fixtures/raw-client.ts";
import { readShared } from "./shared-buffer.ts";

async function accepted(onSocket: (socket: Socket) => void) {
  const server = createServer({ allowHalfOpen: true }, onSocket).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  return { server, client };
}

test("is what this Node can do", async () => {
  const texts: string[] = [];
  const chunks: Buffer[] = [];
  const { server, client } = await accepted((socket) => {
    expect(readShared(socket, (text) => texts.push(text))).toBe(true);
    socket.on("data", (bytes) => chunks.push(bytes)).on("end", () => socket.end());
  });
  client.end("h\u00e9llo", "latin1");
  await once(client.resume(), "end");
  expect(texts.join("")).toBe("h\u00e9llo");
  expect(chunks).toEqual([]);
  server.close();
});

test("leaves a socket alone that has no such parts", async () => {
  const { server, client } = await accepted((socket) => {
    expect(readShared(Object.assign(Object.create(socket), { _handle: null }), () => {})).toBe(false);
    expect(readShared(Object.assign(Object.create(socket), { encrypted: true }), () => {})).toBe(false);
    socket.on("data", (bytes) => socket.end(bytes));
  });
  client.write("hello");
  const [echo] = await once(client, "data");
  expect(String(echo)).toBe("hello");
  server.close();
});

test("what many send at once, larger than the buffer, is not mixed up", async () => {
  await using rig = await rawRig();
  const bodies = Array.from({ length: 20 }, (_, i) => String.fromCharCode(0xc0 + i).repeat(200_000 + i));
  const clients = bodies.map((body) => {
    const client = rig.client();
    client.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`);
    return client;
  });
  for (let at = 0; at < 210_000; at += 30_000)
    for (const [i, client] of clients.entries()) client.write(bodies[i]?.slice(at, at + 30_000) ?? "");
  await Promise.all(clients.map((client, i) => client.until(() => client.text.endsWith(`<${bodies[i]}>`))));
});

test("a connection that is paused reads on where it was", async () => {
  const texts: string[] = [];
  const { server, client } = await accepted((socket) => {
    readShared(socket, (text) => {
      texts.push(text);
      socket.pause();
      setImmediate(() => socket.resume());
    });
    socket.on("data", () => {}).on("end", () => socket.end());
  });
  const sent = Array.from({ length: 50_000 }, (_, i) => `${i};`).join("");
  client.end(sent, "latin1");
  await once(client.resume(), "end");
  expect(texts.join("")).toBe(sent);
  expect(texts.length).toBeGreaterThan(3);
  server.close();
});
