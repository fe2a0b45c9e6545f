import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo, Socket } from "node:net";
import { createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, test } from "vitest";
import { cleanups, clientOf, ok, peer, send, turn } from "./fixtures/raw-peer.ts";

describe("an exchange", () => {
  test("sends head and body in one write, byte for byte", async () => {
    const server = await peer((socket) => socket.write(ok("\u00ff\u0000"), "latin1"));
    const body = Buffer.from('{"text":"\u20ac"}').toString("latin1");
    const answer = await send(clientOf(server.url, { headers: { "X-Key": "k" } }), {
      head: "Mcp-Session-Id: s\r\n",
      body,
    });
    expect(answer).toEqual({ status: 200, body: "\u00ff\u0000" });
    expect(server.sizes).toHaveLength(1);
    expect(server.requests[0]).toMatch(/^POST \/mcp HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n/);
    expect(server.requests[0]).toContain("\r\nX-Key: k\r\nMcp-Session-Id: s\r\n");
    expect(server.requests[0]?.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  test("reads a chunked stream while it goes on", async () => {
    const server = await peer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
      socket.write("9\r\ndata: 1\n\n\r\n");
    });
    const client = clientOf(server.url);
    await new Promise<void>((resolve) => {
      void send(client, { method: "GET" }, { onData: () => resolve() });
    });
    expect(client.stats).toEqual({ open: 1, idle: 0, queued: 0 });
    expect(server.requests[0]).toMatch(/^GET .*\r\nAccept: text\/event-stream\r\n\r\n$/s);
  });

  test("reads a body of many reads whole", async () => {
    const body = "0123456789abcdef".repeat(256 * 1024);
    const server = await peer((socket) => socket.write(ok(body)));
    const answer = await send(clientOf(server.url));
    expect(answer.body === body).toBe(true);
  });

  test("takes the end of the connection as the end of a body without length", async () => {
    const server = await peer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nall"));
    const client = clientOf(server.url);
    expect(await send(client)).toEqual({ status: 200, body: "all" });
    expect(client.stats.open).toBe(0);
  });

  test("reports a body that was cut off as reset, sent and not stale", async () => {
    const server = await peer((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"));
    const answer = await send(clientOf(server.url));
    expect(answer).toMatchObject({ status: 200, body: "half", failure: { reason: "reset", sent: true, stale: false } });
  });

  test("reports a refused connection as not sent", async () => {
    const server = await peer(() => {});
    const closed = createServer().listen(0, "127.0.0.1");
    await once(closed, "listening");
    const url = new URL(server.url);
    url.port = String((closed.address() as AddressInfo).port);
    closed.close();
    await once(closed, "close");
    const client = clientOf(url);
    expect((await send(client)).failure).toMatchObject({
      reason: "connect",
      sent: false,
      stale: false,
      cause: { code: "ECONNREFUSED" },
    });
    expect(client.stats.open).toBe(0);
  });

  test("gives up on a connection that does not open in time", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    cleanups.push(() => silent.close());
    const sockets: Socket[] = [];
    silent.on("connection", (socket) => sockets.push(socket));
    cleanups.push(() => {
      for (const socket of sockets) socket.destroy();
    });
    // TCP opens, the TLS handshake is never answered.
    const url = new URL(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
    const answer = await send(clientOf(url, { connectTimeoutMs: 50 }));
    expect(answer.failure).toMatchObject({ reason: "timeout", sent: false });
  });

  test("does not time out a slow answer", async () => {
    const server = await peer((socket) => setTimeout(() => socket.write(ok("late")), 120));
    expect(await send(clientOf(server.url, { connectTimeoutMs: 50 }))).toEqual({ status: 200, body: "late" });
  });

  test("reports a malformed answer and a head over the bound", async () => {
    const server = await peer((socket, request) =>
      socket.write(
        request.endsWith("big") ? `HTTP/1.1 200 OK\r\nX: ${"a".repeat(600)}` : "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n",
      ),
    );
    const client = clientOf(server.url, { maxHeadBytes: 500 });
    expect((await send(client)).failure).toMatchObject({ reason: "malformed", sent: true });
    expect((await send(client, { body: "big" })).failure).toMatchObject({ reason: "head-too-large", sent: true });
    expect(client.stats.open).toBe(0);
  });

  test("abort ends the exchange at once and destroys the socket", async () => {
    const server = await peer((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"));
    const client = clientOf(server.url, { maxSockets: 1 });
    const first = send(client, {}, { onData: () => first.exchange.abort() });
    const queued = send(client);
    queued.exchange.abort();
    queued.exchange.abort();
    expect((await queued).failure).toEqual({ reason: "aborted", sent: false, stale: false });
    expect(await first).toEqual({
      status: 200,
      body: "half",
      failure: { reason: "aborted", sent: true, stale: false },
    });
    first.exchange.abort();
    expect(client.stats).toEqual({ open: 0, idle: 0, queued: 0 });
    await once(server.sockets[0] as Socket, "close");
  });

  test("pause stops the server, resume lets it go on", async () => {
    const total = 64 * 1024 * 1024;
    let written = 0;
    const piece = Buffer.alloc(1024 * 1024, 120);
    const server = await peer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
      const fill = () => {
        while (written < total) {
          written += piece.length;
          if (!socket.write(piece)) return;
        }
      };
      socket.on("drain", fill);
      fill();
    });
    const client = clientOf(server.url);
    let seen = 0;
    const answer = send(client, {}, { onHead: () => answer.exchange.pause(), onData: (text) => (seen += text.length) });
    await turn();
    const seenPaused = seen;
    await turn();
    await turn();
    expect(seen).toBe(seenPaused);
    expect(seen).toBeLessThan(128 * 1024);
    expect(written).toBeLessThan(total);
    answer.exchange.resume();
    await answer;
    expect(seen).toBe(total);
  });

  test("an exchange paused before it has a socket reads nothing until resumed", async () => {
    const server = await peer((socket) => socket.write(ok("x")));
    const answer = send(clientOf(server.url));
    let isDone = false;
    void answer.then(() => (isDone = true));
    answer.exchange.pause();
    await turn();
    expect(isDone).toBe(false);
    answer.exchange.resume();
    expect(await answer).toEqual({ status: 200, body: "x" });
  });

  test("what a handler throws ends its exchange and nothing else", async () => {
    const server = await peer((socket) => socket.write(ok("x")));
    const client = clientOf(server.url);
    const boom = new Error("boom");
    const thrower = () => {
      throw boom;
    };
    expect((await send(client, {}, { onHead: thrower })).failure).toMatchObject({ reason: "malformed", cause: boom });
    expect((await send(client, {}, { onData: thrower })).failure).toMatchObject({ reason: "malformed", cause: boom });
    expect((await send(client, {}, { onEnd: thrower })).failure).toMatchObject({ reason: "malformed", cause: boom });
    expect(await send(client)).toEqual({ status: 200, body: "x" });
  });

  test("speaks TLS and checks the name on the certificate", async () => {
    const read = (name: string) => readFileSync(new URL(`fixtures/${name}.pem`, import.meta.url));
    const cert = read("localhost-cert");
    const server = await peer((socket) => socket.write(ok("x")), createTlsServer({ cert, key: read("localhost-key") }));
    const url = new URL(`https://localhost:${server.url.port}/mcp`);
    const client = clientOf(url, { tls: { ca: cert } });
    expect(await send(client)).toEqual({ status: 200, body: "x" });
    expect(await send(client)).toEqual({ status: 200, body: "x" });
    expect(server.sockets).toHaveLength(1);
    expect((await send(clientOf(url))).failure).toMatchObject({ reason: "connect", sent: false });
    const byAddress = new URL(`https://127.0.0.1:${server.url.port}/mcp`);
    expect((await send(clientOf(byAddress, { tls: { ca: cert } }))).failure).toMatchObject({
      reason: "connect",
      sent: false,
    });
  });
});
