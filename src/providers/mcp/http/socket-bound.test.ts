import { describe, expect, test, vi } from "vitest";
import { clientOf, ok, peer, send } from "./fixtures/raw-peer.ts";
import { createSocketOpener } from "./open-socket.ts";
import { SocketBound } from "./socket-bound.ts";

const clientWithin = (bound: SocketBound, url: URL) =>
  clientOf(url, { connect: bound.within(createSocketOpener(url)) });

describe("SocketBound", () => {
  test("opens no more than there may be, of all clients together, and says why", async () => {
    const server = await peer(() => undefined);
    const bound = new SocketBound(2);
    const [one, other] = [clientWithin(bound, server.url), clientWithin(bound, server.url)];
    void send(one);
    void send(other);
    const { failure } = await send(one);
    expect(failure).toMatchObject({ reason: "connect", sent: false, cause: { code: "OVERLOADED" } });
    expect(one.stats.open).toBe(1);
    await vi.waitFor(() => expect(server.sockets).toHaveLength(2));
  });

  test("counts a socket until it is closed", async () => {
    const server = await peer((socket) => socket.write(ok("x")));
    const bound = new SocketBound(1);
    const one = clientWithin(bound, server.url);
    expect(await send(one)).toEqual({ status: 200, body: "x" });
    one.close();
    const other = clientWithin(bound, server.url);
    await vi.waitFor(async () => expect(await send(other)).toEqual({ status: 200, body: "x" }));
  });

  test("one that cannot be opened is none", async () => {
    const server = await peer((socket) => socket.write(ok("x")));
    const bound = new SocketBound(1);
    const nowhere = new URL("http://127.0.0.1:1/");
    expect((await send(clientWithin(bound, nowhere))).failure).toMatchObject({ reason: "connect" });
    expect(await send(clientWithin(bound, server.url))).toEqual({ status: 200, body: "x" });
  });

  test.each([
    [512, 128],
    [3, 1],
  ])("of %i one pool has %i", (most, ofPool) => expect(new SocketBound(most).ofPool).toBe(ofPool));
});
