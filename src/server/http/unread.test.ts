import { describe, expect, test } from "vitest";
import { ByteBudget, type HttpResponse } from "../../contract/index.ts";
import { GET, rawRig, until } from "./fixtures/raw-client.ts";
import { type Unread, UnreadBook } from "./unread.ts";

class FakeClient implements Unread {
  unreadBytes = 0;
  sentBytes = 0;
  isCut = false;
  cutUnread(): void {
    this.isCut = true;
    this.unreadBytes = 0;
  }
}

describe("UnreadBook", () => {
  function book() {
    const unread = new UnreadBook({ eachBytes: 100, allBytes: 100 }, new ByteBudget(1_000));
    const clients = Array.from({ length: 3 }, () => new FakeClient()) as [FakeClient, FakeClient, FakeClient];
    const leave = (client: FakeClient, bytes: number) => {
      client.unreadBytes = bytes;
      unread.grew(client);
    };
    const cut = () => clients.map(({ isCut }) => isCut);
    return { unread, clients, leave, cut };
  }

  test("cuts off whoever has taken nothing for the longest time when all together leave too much", () => {
    const { unread, clients, leave, cut } = book();
    const [reads, stalled, late] = clients;
    leave(reads, 40);
    leave(stalled, 40);
    for (let second = 0; second < 3; second++) {
      reads.sentBytes++;
      unread.tick();
    }
    leave(late, 40);
    expect(cut()).toEqual([false, true, false]);
  });

  test("cuts off whoever has most to take where all are as slow", () => {
    const { clients, leave, cut } = book();
    leave(clients[0], 20);
    leave(clients[1], 60);
    leave(clients[2], 30);
    expect(cut()).toEqual([false, true, false]);
  });

  test("cuts off nobody for what has been taken meanwhile", () => {
    const { clients, leave, cut } = book();
    leave(clients[0], 90);
    clients[0].unreadBytes = 0;
    leave(clients[1], 90);
    expect(cut()).toEqual([false, false, false]);
  });
});

describe("a client that does not read", () => {
  const MIB = 1024 * 1024;

  test("gets what was written for it up to a bound, and is cut off then", async () => {
    let stream: HttpResponse | undefined;
    await using rig = await rawRig({
      unread: { eachBytes: MIB, allBytes: 100 * MIB },
      onRequest: (_, response) => {
        response.open(200, "Content-Type: text/event-stream\r\n");
        response.write("x");
        stream = response;
      },
    });
    const client = rig.client();
    client.write(GET);
    await until(() => stream !== undefined);
    client.socket.pause();
    let written = 0;
    // The buffers of the system take some, the gateway one MiB and one message more.
    for (; written < 64 && stream?.isOver === false; written++) {
      stream.write("x".repeat(MIB));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(stream?.isOver).toBe(true);
    expect(written).toBeLessThan(32);
  });
});
