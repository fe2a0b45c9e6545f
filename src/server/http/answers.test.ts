import { describe, expect, test } from "vitest";
import type { HttpResponse } from "../../contract/index.ts";
import { GET, rawRig, turn, until } from "./fixtures/raw-client.ts";

async function openRig() {
  const responses: HttpResponse[] = [];
  const rig = await rawRig({ onRequest: (_request, response) => void responses.push(response) });
  const client = rig.client();
  async function ask(bytes = GET, from = client): Promise<HttpResponse> {
    const count = responses.length;
    from.write(bytes);
    await until(() => responses.length > count);
    return responses[count] as HttpResponse;
  }
  return Object.assign(rig, { ask, peer: client });
}

describe("an answer", () => {
  test("carries its lines, and no length where there is no body", async () => {
    await using rig = await openRig();
    (await rig.ask()).answer(204, "X: y\r\n", "");
    await rig.peer.until(({ text }) => text.endsWith("\r\n\r\n"));
    expect(rig.peer.text).toMatch(/^HTTP\/1\.1 204 No Content\r\nDate: .*\r\nX: y\r\n\r\n$/);
  });

  test("to HEAD has the length and not the body", async () => {
    await using rig = await openRig();
    (await rig.ask(GET.replace("GET", "HEAD"))).answer(405, "", "nothing");
    (await rig.ask()).answer(200, "", "!");
    await rig.peer.until(({ text }) => text.endsWith("!"));
    expect(rig.peer.text).toMatch(/Content-Length: 7\r\n\r\nHTTP\/1\.1 200 /);
  });

  test.each([10, 100_000])("in parts of %i bytes arrives whole", async (size) => {
    await using rig = await openRig();
    (await rig.ask()).answerParts(200, "", "<", Buffer.alloc(size, "\xe9", "latin1"), ">");
    await rig.peer.until(({ text }) => text.endsWith(">"));
    expect(rig.peer.text.endsWith(`Content-Length: ${size + 2}\r\n\r\n<${"\xe9".repeat(size)}>`)).toBe(true);
  });

  test("of unknown length is chunked towards 1.1 and leaves the connection open", async () => {
    await using rig = await openRig();
    const response = await rig.ask();
    response.open(200, "X: y\r\n");
    await turn();
    expect(rig.peer.text).toBe("");
    response.write("a");
    response.write("");
    response.write("b".repeat(20));
    response.end("c");
    expect(response.isOver).toBe(true);
    await rig.peer.until(({ text }) => text.endsWith("0\r\n\r\n"));
    const body = `1\r\na\r\n14\r\n${"b".repeat(20)}\r\n1\r\nc\r\n0\r\n\r\n`;
    expect(rig.peer.text).toMatch(/Transfer-Encoding: chunked\r\nX: y\r\n\r\n/);
    expect(rig.peer.text.endsWith(body)).toBe(true);
    (await rig.ask()).answer(200, "", "next");
    await rig.peer.until(({ text }) => text.endsWith("next"));
  });

  test("of unknown length lasts until the close towards 1.0", async () => {
    await using rig = await openRig();
    const response = await rig.ask("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    response.open(200, "");
    response.write("ab");
    response.end("c");
    expect(await rig.peer.all()).toMatch(/Connection: close\r\n\r\nabc$/);
  });

  test("does nothing any more after its end", async () => {
    await using rig = await openRig();
    const response = await rig.ask();
    response.answer(200, "", "once");
    const second = await rig.ask();
    response.answer(200, "", "twice");
    response.open(200, "");
    expect(response.write("x")).toBe(true);
    response.end();
    second.answer(200, "", "other");
    await rig.peer.until(({ text }) => text.endsWith("other"));
    expect(rig.peer.statuses).toEqual([200, 200]);
  });

  test("cannot begin twice", async () => {
    await using rig = await openRig();
    const response = await rig.ask();
    expect(() => response.write("x")).toThrow(/not begun/);
    expect(() => response.end()).toThrow(/not begun/);
    response.open(200, "");
    expect(() => response.open(200, "")).toThrow(/begun already/);
    expect(() => response.answer(200, "", "")).toThrow(/begun already/);
    response.end();
  });

  test("tells when the client is behind, and when it has caught up", async () => {
    await using rig = await openRig();
    const response = await rig.ask();
    let drains = 0;
    response.onDrain = () => drains++;
    response.open(200, "");
    rig.peer.socket.pause();
    let writes = 0;
    while (response.write("x".repeat(64 * 1024)) && writes < 1000) writes++;
    expect(writes).toBeLessThan(1000);
    expect(drains).toBe(0);
    rig.peer.socket.resume();
    await until(() => drains === 1);
    response.end("!");
    await rig.peer.until(({ text }) => text.endsWith("!\r\n0\r\n\r\n"));
  });

  test.each(["ends its side", "resets"])("hears once that the client of a stream %s", async (how) => {
    await using rig = await openRig();
    const response = await rig.ask();
    let closes = 0;
    response.onClose = () => closes++;
    response.open(200, "");
    response.write("x");
    await rig.peer.until(({ text }) => text !== "");
    if (how === "resets") rig.peer.socket.resetAndDestroy();
    else rig.peer.socket.end();
    await until(() => closes === 1);
    expect(response.isOver).toBe(true);
    response.end("y");
    await until(() => rig.listener.connections === 0);
    expect(closes).toBe(1);
  });

  test("is not called for when the client leaves in the middle of its body", async () => {
    const heard: string[] = [];
    await using rig = await rawRig({
      onRequest: (request) =>
        request.body(100, { onBody: () => heard.push("body"), onTooLarge: () => heard.push("too large") }),
    });
    const client = rig.client();
    client.write("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    await until(() => rig.listener.connections === 1);
    client.socket.end();
    await until(() => rig.listener.connections === 0);
    expect(heard).toEqual([]);
    expect(client.text).toBe("");
  });
});

describe("stopAccepting", () => {
  test("resets nobody who had connected before, when those were taken first", async () => {
    await using rig = await openRig();
    await until(() => rig.listener.connections === 1);
    for (let number = 0; number < 20; number++) rig.client();
    await rig.listener.takeWaiting();
    rig.listener.stopAccepting();
    expect(rig.listener.connections).toBe(21);
  });

  test("leaves connections open for one more request, until idle ones are closed; streams go on", async () => {
    await using rig = await openRig();
    const [used, idle] = [rig.client(), rig.client()];
    await until(() => rig.listener.connections === 3);
    const response = await rig.ask();
    rig.listener.stopAccepting();
    const last = await rig.ask(GET, used);
    last.answer(200, "", "late");
    expect(await used.all()).toMatch(/Connection: close\r\n(.*\r\n)*\r\nlate$/);
    rig.listener.closeIdle();
    expect(await idle.all()).toBe("");
    response.open(200, "");
    response.write("x");
    await rig.peer.until(({ text }) => text.includes("x\r\n"));
    expect(rig.peer.text).toContain("Connection: close");
    response.end();
    expect(await rig.peer.all()).toMatch(/0\r\n\r\n$/);
  });

  test("closes a connection whose stream began before, when it ends", async () => {
    await using rig = await openRig();
    const response = await rig.ask();
    response.open(200, "");
    response.write("x");
    rig.listener.stopAccepting();
    rig.listener.closeIdle();
    response.end();
    expect(await rig.peer.all()).toMatch(/0\r\n\r\n$/);
  });

  test("leaves a connection open whose stream began before, until idle ones are closed", async () => {
    await using rig = await openRig();
    const response = await rig.ask();
    response.open(200, "");
    response.write("x");
    rig.listener.stopAccepting();
    response.end();
    (await rig.ask()).answer(200, "", "late");
    expect(await rig.peer.all()).toMatch(/Connection: close\r\n(.*\r\n)*\r\nlate$/);
  });

  test("is followed by close, which ends everything and may be called twice", async () => {
    await using rig = await openRig();
    const response = await rig.ask();
    let closes = 0;
    response.onClose = () => closes++;
    await rig.listener.close();
    await rig.listener.close();
    await rig.peer.all();
    expect(closes).toBe(1);
    expect(rig.time.pending).toBe(0);
  });
});
