import { describe, expect, test } from "vitest";
import { ByteBudget, type HttpRequest, type HttpResponse } from "../../contract/index.ts";
import { post, rawRig, turn, until } from "./fixtures/raw-client.ts";
import { type Unfinished, UnfinishedBook } from "./unfinished.ts";

class FakeClient implements Unfinished {
  hasGivenWay = false;
  giveWay(): void {
    this.hasGivenWay = true;
  }
}

describe("UnfinishedBook", () => {
  function book(bytes = 100) {
    const budget = new ByteBudget(bytes);
    const unfinished = new UnfinishedBook(budget);
    const [a, b, c] = [new FakeClient(), new FakeClient(), new FakeClient()] as const;
    const gone = () => [a, b, c].map(({ hasGivenWay }) => hasGivenWay);
    return { budget, unfinished, a, b, c, gone };
  }
  const mallory = { name: "mallory" };
  const ann = { name: "ann" };

  test("has whoever said nothing for the longest time give way", () => {
    const { budget, unfinished, a, b, c, gone } = book();
    unfinished.set(a, mallory, 20);
    unfinished.set(b, mallory, 20);
    unfinished.set(a, mallory, 25);
    expect(unfinished.set(c, mallory, 20)).toBe(true);
    expect(gone()).toEqual([false, true, false]);
    expect(budget.held).toBe(45);
  });

  test("has nobody give way to one who has more", () => {
    const { unfinished, a, b, gone, budget } = book();
    unfinished.set(a, ann, 10);
    budget.take(mallory, 40);
    expect(unfinished.set(b, mallory, 20)).toBe(false);
    expect(gone()).toEqual([false, false, false]);
    expect(budget.held).toBe(50);
  });

  test("has those of whoever has most give way to others", () => {
    const { unfinished, a, b, c, gone } = book();
    unfinished.set(a, mallory, 25);
    unfinished.set(b, mallory, 25);
    expect(unfinished.set(c, ann, 30)).toBe(true);
    expect(gone()).toEqual([true, false, false]);
  });

  test("does not end anybody for what can never fit", () => {
    const { unfinished, a, gone } = book();
    unfinished.set(a, mallory, 10);
    expect(unfinished.makeRoom(mallory, 60)).toBe(false);
    expect(gone()).toEqual([false, false, false]);
  });

  test("forgets what is whole", () => {
    const { budget, unfinished, a } = book();
    unfinished.set(a, mallory, 20);
    unfinished.set(a, mallory, 0);
    expect([budget.held, budget.of("mallory")]).toEqual([0, 0]);
  });
});

describe("the bodies of requests", () => {
  const KIB = 1024;
  const begun = (bytes: number) => `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`;
  const chunked = "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";

  async function turns(): Promise<void> {
    for (let count = 0; count < 50; count++) await turn();
  }

  test("that do not fit are refused before they are read", async () => {
    const budget = new ByteBudget(100 * KIB);
    await using rig = await rawRig({ budget });
    const client = rig.client();
    client.write(begun(60 * KIB));
    await client.until(() => client.statuses.length === 1);
    expect(client.statuses).toEqual([503]);
    expect(client.text).toContain("Retry-After: 1\r\n");
    expect([rig.seen.length, budget.held]).toEqual([0, 0]);
  });

  test.each<[string, string, (text: string) => string]>([
    ["with a length", begun(45 * KIB), (text) => text],
    ["in chunks", chunked, (text) => `${text.length.toString(16)}\r\n${text}\r\n`],
  ])("%s that never end give way to those that go on", async (_, head, piece) => {
    const budget = new ByteBudget(100 * KIB);
    await using rig = await rawRig({ budget });
    const slow = rig.client();
    slow.write(head + piece("z".repeat(40 * KIB)));
    await until(() => budget.held >= 40 * KIB);
    const other = rig.client();
    other.write(post("x".repeat(30 * KIB)));
    await other.until(() => other.statuses.length === 1);
    await slow.all();
    expect([slow.statuses, other.statuses]).toEqual([[503], [200]]);
    expect(budget.held).toBe(0);
  });

  test.each<[string, (response: HttpResponse) => void]>([
    ["answered", (response) => response.answer(200, "", "ok")],
    [
      "answered by a stream",
      (response) => {
        response.open(200, "");
        response.end("ok");
      },
    ],
    ["cut off", (response) => response.cut()],
  ])("count until the request is %s, and once", async (_, end) => {
    const budget = new ByteBudget(1_000 * KIB);
    const waiting: [HttpRequest, HttpResponse][] = [];
    await using rig = await rawRig({
      budget,
      onRequest: (request, response) =>
        request.body(1_000 * KIB, { onBody: () => waiting.push([request, response]), onTooLarge: () => undefined }),
    });
    for (const pieces of [
      [post("x".repeat(20 * KIB))],
      [begun(80 * KIB), "x".repeat(40 * KIB), "x".repeat(40 * KIB)],
    ]) {
      const client = rig.client();
      for (const piece of pieces) {
        client.write(piece);
        await turns();
      }
    }
    await until(() => waiting.length === 2);
    expect(budget.held).toBe(100 * KIB);
    for (const [request, response] of waiting) {
      // A call goes on with it.
      const held = request.held?.hold();
      end(response);
      held?.letGo();
    }
    expect(budget.held).toBe(0);
  });

  test("do not count any more when their clients have gone", async () => {
    const budget = new ByteBudget(1_000 * KIB);
    await using rig = await rawRig({ budget });
    for (const text of [begun(90 * KIB) + "x".repeat(50 * KIB), `POST /x HTTP/1.1\r\nHost: ${"a".repeat(4 * KIB)}`]) {
      const client = rig.client();
      client.write(text);
      await until(() => budget.held > 4 * KIB);
      client.socket.destroy();
      await until(() => budget.held === 0);
    }
  });
});
