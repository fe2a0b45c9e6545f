import { describe, expect, test, vi } from "vitest";
import { GET, post, rawRig, turn, until } from "./fixtures/raw-client.ts";
import { RequestTurns, type WaitingClient } from "./request-turns.ts";

/** Time goes on by a millisecond with each request that is taken. */
function rig() {
  let now = 0;
  const taken: string[] = [];
  const turns = new RequestTurns(() => now);
  const client = (name: string, count: number): WaitingClient => {
    const self = {
      takeTurn() {
        now++;
        taken.push(name);
        if (--count > 0) turns.wait(self);
      },
    };
    return self;
  };
  return { turns, taken, client };
}

describe("RequestTurns", () => {
  test("serves one request of each, round and round", async () => {
    const { turns, taken, client } = rig();
    for (const [name, count] of [["a", 3] as const, ["b", 1] as const, ["c", 2] as const])
      turns.wait(client(name, count));
    expect(taken).toEqual([]);
    for (let round = 0; round < 10; round++) await turn();
    expect(taken.join("")).toBe("abcaca");
  });

  test("takes no more of a turn than its part, however many wait", async () => {
    const { turns, taken, client } = rig();
    for (let count = 0; count < 20; count++) turns.wait(client(`${count}`, 5));
    let before = 0;
    for (let round = 0; round < 60; round++) {
      await turn();
      expect(taken.length - before).toBeLessThanOrEqual(2);
      before = taken.length;
    }
    expect(taken).toHaveLength(100);
  });

  test("counts what a request sets off in promises", async () => {
    let now = 0;
    const turns = new RequestTurns(() => now);
    const done: number[] = [];
    for (let count = 0; count < 4; count++) {
      turns.wait({
        takeTurn() {
          void (async () => {
            for (let step = 0; step < 5; step++) await undefined;
            now += 10;
            done.push(count);
          })();
        },
      });
    }
    await turn();
    expect(done).toEqual([0]);
    for (let round = 0; round < 5; round++) await turn();
    expect(done).toEqual([0, 1, 2, 3]);
  });

  test("forgets who leaves", async () => {
    const { turns, taken, client } = rig();
    const [leaving, other] = [client("leaving", 1), client("other", 1)];
    turns.wait(leaving);
    turns.wait(other);
    turns.leave(leaving);
    for (let round = 0; round < 3; round++) await turn();
    expect(taken).toEqual(["other"]);
  });
});

const COUNT = 100;
/** So long one request keeps the process busy in these tests. */
const BUSY_MS = 1;

function keepBusy(): void {
  const until = performance.now() + BUSY_MS;
  while (performance.now() < until) {}
}

describe("a client that does not wait for answers", () => {
  test.each([
    ["at once", (answer: () => void) => answer()],
    ["in promises", (answer: () => void) => void Promise.resolve().then(answer)],
  ])("and is answered %s leaves a turn to others between its requests", async (_, say) => {
    let answered = 0;
    await using rig = await rawRig({
      onRequest: (request, response) => {
        if (request.url === "/other") return response.answer(200, "", `after ${answered}`);
        say(() => {
          keepBusy();
          answered++;
          response.answer(200, "", "");
        });
      },
    });
    const [greedy, other] = [rig.client(), rig.client()];
    await until(() => rig.listener.connections === 2);
    greedy.write(GET.repeat(COUNT));
    await until(() => answered > 0);
    other.write(GET.replace("/x", "/other"));
    const { text } = await other.until(({ text }) => text.includes("after")).then(() => other);
    expect(Number(/after (\d+)/.exec(text)?.[1])).toBeLessThan(COUNT / 2);
    await greedy.until(({ statuses }) => statuses.length === COUNT);
  });

  test("is answered in order, also what it sends while it waits, with its bodies and after its last byte", async () => {
    await using rig = await rawRig({
      onRequest(request, response) {
        const answer = (body: string) => response.answer(200, "", `<${request.url} ${body}>`);
        const onBody = (body: string) =>
          Number(request.url.slice(1)) % 3 === 0 ? setImmediate(() => answer(body)) : answer(body);
        request.body(1024, { onBody, onTooLarge: () => answer("too large") });
      },
    });
    const one = (count: number) =>
      count % 2 === 0
        ? `GET /${count} HTTP/1.1\r\nHost: a\r\n\r\n`
        : `POST /${count} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi`;
    const all = Array.from({ length: COUNT }, (_, count) => one(count)).join("");
    const client = rig.client();
    for (let at = 0; at < all.length; at += 500) {
      client.write(all.slice(at, at + 500));
      await turn();
    }
    client.socket.end();
    await client.all();
    const wanted = Array.from({ length: COUNT }, (_, count) => `</${count} ${count % 2 === 0 ? "" : "hi"}>`);
    expect(client.text.match(/<[^>]*>/g)).toEqual(wanted);
  });

  test("is not told that its head took too long, however long others take", async () => {
    const waiting: (() => void)[] = [];
    await using rig = await rawRig({
      onRequest: (_, response) => void waiting.push(() => response.answer(200, "", "")),
    });
    const client = rig.client();
    client.write(GET.repeat(3));
    for (let count = 1; count <= 3; count++) {
      await until(() => waiting.length === count);
      rig.time.advance(60_000);
      waiting[count - 1]?.();
      rig.time.advance(60_000);
    }
    await client.until(({ statuses }) => statuses.length === 3);
    expect(client.statuses).toEqual([200, 200, 200]);
  });
});

test("a client that waits for answers never waits for its turn", async () => {
  await using rig = await rawRig();
  const wait = vi.spyOn(rig.listener.turns, "wait");
  const client = rig.client();
  const large = post("x".repeat(200_000));
  const asked = [GET, post("body"), large, GET];
  for (const [at, text] of asked.entries()) {
    client.write(text.slice(0, 50));
    await turn();
    client.write(text.slice(50));
    await client.until(({ statuses, text }) => statuses.length === at + 1 && text.endsWith(">"));
  }
  expect(wait).not.toHaveBeenCalled();
});
