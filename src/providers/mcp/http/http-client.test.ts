import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import type { Answer } from "./fixtures/raw-peer.ts";
import { cleanups, clientOf, ok, peer, send, turn } from "./fixtures/raw-peer.ts";
import { createHttpClient } from "./http-client.ts";

describe("createHttpClient", () => {
  test("uses the socket that was free last again", async () => {
    const server = await peer((socket, request) => socket.write(ok(request.slice(-2))));
    const client = clientOf(server.url);
    await Promise.all([send(client, { body: "01" }), send(client, { body: "02" })]);
    expect(client.stats).toEqual({ open: 2, idle: 2, queued: 0 });
    for (const body of ["03", "04", "05"]) expect(await send(client, { body })).toEqual({ status: 200, body });
    expect(server.sockets).toHaveLength(2);
  });

  test("lets the end of one exchange start the next on the same socket", async () => {
    const server = await peer((socket) => socket.write(ok("x")));
    const client = clientOf(server.url);
    let second: Promise<Answer> | undefined;
    await send(client, {}, { onEnd: () => (second = send(client)) });
    expect(await second).toEqual({ status: 200, body: "x" });
    expect(server.sockets).toHaveLength(1);
  });

  test("reports a reused socket that dies before any answer as stale", async () => {
    let calls = 0;
    const server = await peer((socket) => (++calls === 1 ? socket.write(ok("x")) : socket.destroy()));
    const client = clientOf(server.url);
    await send(client);
    expect((await send(client)).failure).toMatchObject({ reason: "reset", sent: true, stale: true });
    expect((await send(client)).failure).toMatchObject({ reason: "reset", sent: true, stale: false });
  });

  test("drops an idle socket that the server closes", async () => {
    const server = await peer((socket) => socket.write(ok("x")));
    const client = clientOf(server.url);
    await send(client);
    server.sockets[0]?.end();
    await turn();
    expect(client.stats).toEqual({ open: 0, idle: 0, queued: 0 });
    expect(await send(client)).toEqual({ status: 200, body: "x" });
  });

  test("stops using a socket before the server's own keep-alive time is over", async () => {
    const server = await peer((socket) => socket.write(ok("x", "Keep-Alive: timeout=1\r\n")));
    const client = clientOf(server.url);
    await send(client);
    await send(client);
    expect(server.sockets).toHaveLength(2);
  });

  test("closes sockets that were idle for too long", async () => {
    const server = await peer((socket) => socket.write(ok("x")));
    const client = clientOf(server.url, { idleMs: 10 });
    await send(client);
    expect(client.stats.idle).toBe(1);
    await once(server.sockets[0] as Socket, "close");
    expect(client.stats).toEqual({ open: 0, idle: 0, queued: 0 });
  });

  test.each([
    ["after the end of a response", ok("x") + ok("injected")],
    ["while it is idle", ok("x")],
  ])("never reuses a socket that sent bytes %s", async (when, response) => {
    const server = await peer((socket) => socket.write(response));
    const client = clientOf(server.url);
    expect(await send(client)).toEqual({ status: 200, body: "x" });
    if (when === "while it is idle") {
      server.sockets[0]?.write(ok("injected"));
      await turn();
    }
    expect(client.stats.open).toBe(0);
    expect(await send(client)).toEqual({ status: 200, body: "x" });
    expect(server.sockets).toHaveLength(2);
  });

  test("queues at the bound of sockets and keeps the order", async () => {
    const server = await peer((socket, request) => setTimeout(() => socket.write(ok(request.slice(-2))), 1));
    const client = clientOf(server.url, { maxSockets: 2 });
    const order: string[] = [];
    const bodies = ["01", "02", "03", "04", "05", "06"];
    const answers = bodies.map((body) => send(client, { body }, { onEnd: () => order.push(body) }));
    expect(client.stats).toEqual({ open: 2, idle: 0, queued: 4 });
    expect((await Promise.all(answers)).map((answer) => answer.body)).toEqual(bodies);
    expect(order).toEqual(bodies);
    expect(server.sockets).toHaveLength(2);
  });

  test("opens a new socket for the queue when one is lost", async () => {
    const server = await peer((socket, request) => (request.endsWith("01") ? socket.destroy() : socket.write(ok("x"))));
    const client = clientOf(server.url, { maxSockets: 1 });
    const [first, second] = await Promise.all([send(client, { body: "01" }), send(client, { body: "02" })]);
    expect(first.failure).toMatchObject({ reason: "reset" });
    expect(second).toEqual({ status: 200, body: "x" });
  });

  test("refuses what does not fit the queue, after send has returned", async () => {
    const server = await peer(() => {});
    const client = clientOf(server.url, { maxSockets: 1 });
    for (let count = 0; count < 1025; count++) void send(client);
    expect((await send(client)).failure).toMatchObject({ reason: "full", sent: false });
    expect(client.stats.queued).toBe(1024);
  });

  test("abort after the end leaves the socket to its next user", async () => {
    const server = await peer((socket) => setTimeout(() => socket.write(ok("x")), 5));
    const client = clientOf(server.url);
    const first = send(client);
    await first;
    const second = send(client);
    first.exchange.abort();
    first.exchange.pause();
    expect(await second).toEqual({ status: 200, body: "x" });
    expect(server.sockets).toHaveLength(1);
  });

  test("an exchange that ends while paused gives back a socket that reads", async () => {
    const server = await peer((socket) => socket.write(ok("x")));
    const client = clientOf(server.url);
    const first = send(client, {}, { onHead: () => first.exchange.pause() });
    await first;
    expect(await send(client)).toEqual({ status: 200, body: "x" });
    expect(server.sockets).toHaveLength(1);
  });

  test("does not reuse a socket whose request was answered before it was read", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("readable", () => socket.write(ok("no")));
      cleanups.push(() => socket.destroy());
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(() => server.close());
    const client = clientOf(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
    expect(await send(client, { body: "x".repeat(32 * 1024 * 1024) })).toEqual({ status: 200, body: "no" });
    expect(client.stats.open).toBe(0);
  });

  test("close ends open and queued exchanges, and later ones", async () => {
    const server = await peer(() => {});
    const client = clientOf(server.url, { maxSockets: 1 });
    const answers = [send(client), send(client)];
    client.close();
    client.close();
    for (const answer of await Promise.all([...answers, send(client)])) expect(answer.failure?.reason).toBe("aborted");
    expect(client.stats).toEqual({ open: 0, idle: 0, queued: 0 });
  });

  test("refuses a URL that is not http", () => {
    expect(() => createHttpClient({ url: new URL("ftp://x/") })).toThrow(/http/);
  });
});
