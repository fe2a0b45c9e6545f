/** A server's answers reach the call they answer, as they are, or fail it: nothing else can be made of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Lane, NAMES, openLane } from "../kit/lane.ts";
import { SERVER_CASES } from "./server-cases.ts";

const call = (id: string) =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${NAMES.tool}","arguments":{}}}`;
const answer = (id: unknown, text: string) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[],"text":"${text}"}}`;

describe.each(["http to http, events", "http to stdio", "stdio to stdio"] as const)("answers, %s", (kind) => {
  let lane: Lane;

  beforeAll(async () => {
    lane = await openLane(kind, "");
  });

  beforeEach(() => void lane.upstream.received.drain());

  afterAll(() => lane?.close());

  /** An ordinary call still works. Only a refusal of the question of a case may reach the server before it. */
  async function expectHealth(): Promise<void> {
    const { inbox } = lane.client.request(call('"health"'));
    let received = await lane.upstream.received.next();
    if (received.message.id === "q") {
      expect(received.message).toMatchObject({ error: { code: -32600 } });
      received = await lane.upstream.received.next();
    }
    received.answer(answer(received.message.id, "fine"));
    expect(await inbox.next()).toBe(answer('"health"', "fine"));
  }

  const cases = SERVER_CASES.filter((one) => kind === "http to http, events" || !one.onlyHttp);

  test.each(cases)("$name", async ({ name, said, expect: expected }) => {
    const id = JSON.stringify(name);
    const { inbox } = lane.client.request(call(id));
    const received = await lane.upstream.received.next();
    const texts = said.map((text) => text.replaceAll("{id}", String(received.message.id)));
    for (const text of texts.slice(0, -1)) received.send(text);
    received.answer(texts.at(-1) ?? "");
    const got = await inbox.next();
    if (expected === "either") expect(got).toMatch(/"code":"PROVIDER_FAILED"|"ok":1\.0/);
    else if (expected === "failed") expect(got).toContain('"code":"PROVIDER_FAILED"');
    else expect(got).toBe(expected.replaceAll("{id}", id));
    await expectHealth();
  });

  test("an answer on the stream of another call goes to the call that it names", async () => {
    const one = lane.client.request(call('"one"'));
    const first = await lane.upstream.received.next();
    const two = lane.client.request(call('"two"'));
    const second = await lane.upstream.received.next();
    first.send(answer(second.message.id, "for two"));
    expect(await two.inbox.next()).toBe(answer('"two"', "for two"));
    first.answer(answer(first.message.id, "for one"));
    expect(await one.inbox.next()).toBe(answer('"one"', "for one"));
    second.answer(answer(second.message.id, "late"));
    await expectHealth();
  });

  test("a second call under an id that is in use is refused, and the first one goes on", async () => {
    const one = lane.client.request(call('"same"'));
    const received = await lane.upstream.received.next();
    const two = lane.client.request(call('"same"'));
    expect(JSON.parse(await two.inbox.next())).toMatchObject({ id: "same", error: { code: -32600 } });
    received.answer(answer(received.message.id, "first"));
    expect(await one.inbox.next()).toBe(answer('"same"', "first"));
    await expectHealth();
  });

  test("an id spelled in another way is another id", async () => {
    const calls = ["1", "1.0", "1e0", '"1"', '"\\u0031"'].map((id) => ({ id, ...lane.client.request(call(id)) }));
    for (const { id } of calls) {
      const received = await lane.upstream.received.next();
      received.answer(answer(received.message.id, "x"));
      expect(typeof id).toBe("string");
    }
    const texts = await Promise.all(calls.map(({ inbox }) => inbox.next()));
    expect(texts.sort()).toEqual(calls.map(({ id }) => answer(id, "x")).sort());
  });
});

describe("line ends in an answer", () => {
  const LINES = '{\r\n"jsonrpc":"2.0",\r"id":{id},\n\n"result"\n:{"content":[],\n"data: x":"\\n\\ndata: {}\\n\\n"}}\n';

  test.each(["http to http, events", "http to http, JSON"] as const)("stay inside one event, %s", async (kind) => {
    const lane = await openLane(kind, "");
    try {
      const { inbox } = lane.client.request(call('"c"'));
      const received = await lane.upstream.received.next();
      received.send(
        '{"jsonrpc":"2.0",\n\n"method":"notifications/message",\r\n\r\n"params":{"level":"error",\n"data":"\\r\\n"}}',
      );
      received.answer(LINES.replace("{id}", String(received.message.id)));
      expect(await inbox.next()).toBe(
        '{"jsonrpc":"2.0",\n\n"method":"notifications/message",\n\n"params":{"level":"error",\n"data":"\\r\\n"}}',
      );
      expect(await inbox.next()).toBe(LINES.replace("{id}", '"c"').replace(/\r\n|\r/g, "\n"));
    } finally {
      await lane.close();
    }
  });
});
