import { describe, expect, test } from "vitest";
import type { HttpResponse } from "../../contract/index.ts";
import { GET, post, rawRig, until } from "./fixtures/raw-client.ts";

/** A listener whose process may be told that it must not speak any more. */
async function mutedRig() {
  const responses: HttpResponse[] = [];
  const gone: HttpResponse[] = [];
  let mayWrite = true;
  const rig = await rawRig({
    mayWrite: () => mayWrite,
    onRequest(_request, response) {
      response.onClose = () => gone.push(response);
      responses.push(response);
    },
  });
  async function ask(bytes = GET) {
    const client = rig.client();
    const count = responses.length;
    client.write(bytes);
    await until(() => responses.length > count);
    return { client, response: responses[count] as HttpResponse };
  }
  return Object.assign(rig, {
    ask,
    gone,
    responses,
    mute(isMuted = true) {
      mayWrite = !isMuted;
    },
  });
}

describe("a connection that must not speak any more", () => {
  test.each<[string, (response: HttpResponse) => void]>([
    ["a whole answer", (response) => response.answer(200, "", "late")],
    ["an answer in parts", (response) => response.answerParts(200, "", "", Buffer.alloc(100_000), "")],
    [
      "a stream",
      (response) => {
        response.open(200, "");
        response.write("late");
        response.end("later");
      },
    ],
  ])("closes without a byte instead of %s", async (_what, speak) => {
    await using rig = await mutedRig();
    const { client, response } = await rig.ask();
    rig.mute();
    speak(response);
    await client.until(({ isEnded }) => isEnded);
    expect(client.text).toBe("");
    expect(response.isOver).toBe(true);
    expect(rig.errors).toEqual([]);
  });

  test("breaks off a stream without ending it, and tells whoever writes it", async () => {
    await using rig = await mutedRig();
    const { client, response } = await rig.ask();
    response.open(200, "");
    response.write("early");
    await client.until(({ text }) => text.endsWith("early\r\n"));
    const before = client.text;
    rig.mute();
    expect(response.write("late")).toBe(true);
    await client.until(({ isEnded }) => isEnded);
    expect(client.text).toBe(before);
    expect(rig.gone).toEqual([response]);
  });

  test("takes no further request, neither a new one nor one that was sent ahead", async () => {
    await using rig = await mutedRig();
    const { client } = await rig.ask(`${GET}${GET}`);
    rig.mute();
    rig.responses[0]?.answer(200, "", "late");
    await client.until(({ isEnded }) => isEnded);
    rig.mute(false);
    const other = await rig.ask();
    other.response.answer(200, "", "one");
    await other.client.until(({ text }) => text.endsWith("one"));
    rig.mute();
    other.client.write(GET);
    await other.client.until(({ isEnded }) => isEnded);
    expect(rig.responses).toHaveLength(2);
    expect(client.text).toBe("");
    expect(other.client.statuses).toEqual([200]);
  });

  test("says nothing to what it would refuse, and not that a body may come", async () => {
    await using rig = await mutedRig();
    rig.mute();
    const clients = ["nonsense\r\n\r\n", post("abc", "Expect: 100-continue\r\n")].map((bytes) => {
      const client = rig.client();
      client.write(bytes);
      return client;
    });
    for (const client of clients) await client.until(({ isEnded }) => isEnded);
    expect(clients.map(({ text }) => text)).toEqual(["", ""]);
  });

  test("is the only one: a connection that comes when it may speak again is served", async () => {
    await using rig = await mutedRig();
    const old = await rig.ask();
    rig.mute();
    rig.listener.cutAll();
    await old.client.until(({ isEnded }) => isEnded);
    rig.mute(false);
    const { client, response } = await rig.ask();
    response.answer(200, "", "new");
    await client.until(({ text }) => text.endsWith("new"));
    expect(old.client.text).toBe("");
  });
});

describe("an answer that is cut", () => {
  test("has no end, and nobody hears that the client left", async () => {
    await using rig = await mutedRig();
    const { client, response } = await rig.ask();
    response.open(200, "");
    response.write("half");
    await client.until(({ text }) => text.endsWith("half\r\n"));
    response.cut();
    await client.until(({ isEnded }) => isEnded);
    expect(client.text.endsWith("4\r\nhalf\r\n")).toBe(true);
    expect(response.isOver).toBe(true);
    expect(rig.gone).toEqual([]);
    response.cut();
  });
});
