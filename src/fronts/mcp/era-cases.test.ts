import { describe, expect, test } from "vitest";
import { call, endWith, mcpRig, until } from "../../../tests/kit/mcp-rig.ts";
import { ask } from "../../../tests/kit/round-rig.ts";
import { type Ask, jsonText, payload } from "../../contract/index.ts";

const form = (property: object): Ask =>
  ask("q", "elicit", { message: "m", requestedSchema: { type: "object", properties: { colour: property } } });
const TITLED = form({ type: "string", oneOf: [{ const: "#f00", title: "Red" }] });
const SEVERAL = form({ type: "array", items: { type: "string", enum: ["a", "b"] } });
const cancel = (requestId: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });

describe("a client of the 2025 era", () => {
  test.each(["GET", "DELETE"])(
    "is not allowed %s without a session, and not found with an unknown one",
    async (method) => {
      await using rig = await mcpRig();
      expect((await rig.send({ method })).status).toBe(405);
      expect((await rig.send({ method, headers: { "mcp-session-id": "gone" } })).status).toBe(404);
    },
  );

  test("gets every question of its session under an id of its own, whatever calls run at once", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-11-25", { elicitation: {} });
    rig.runs.onStart = (run) => run.write({ type: "ask", asks: [ask("a"), ask("b")] });
    const streams = await Promise.all(Array.from({ length: 50 }, (_, id) => rig.open({ headers, body: call(id) })));
    const ids: unknown[] = [];
    for (const stream of streams) ids.push((await stream.message(0)).id, (await stream.message(1)).id);
    expect(new Set(ids).size).toBe(100);
    const [id] = ids;
    await rig.send({ headers, body: JSON.stringify({ jsonrpc: "2.0", id, result: { action: "accept" } }) });
    expect(rig.runs.started.filter((run) => run.replies.length > 0)).toHaveLength(1);
  });

  test("may cancel what is over, what it cancelled before and what never was: all is taken, nothing happens", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize();
    rig.runs.onStart = (run) => run.write(endWith({}));
    await rig.send({ headers, body: call(0) });
    rig.runs.onStart = () => {};
    rig.send({ headers, body: call(1) }).catch(() => undefined);
    await until(() => rig.runs.started.length === 2);
    for (const id of [0, 0, 1, 1, "1", 77]) {
      expect((await rig.send({ headers, body: cancel(id) })).status).toBe(202);
    }
    expect(rig.runs.started.map((run) => run.cancelled !== undefined)).toEqual([false, true]);
    expect((await rig.send({ headers, body: '{"jsonrpc":"2.0","id":0,"method":"ping"}' })).json()).toMatchObject({
      id: 0,
    });
  });
});

describe("a question to a client of an older revision", () => {
  const asked = async (version: string, question: Ask) => {
    await using rig = await mcpRig();
    const headers = await rig.initialize(version, { elicitation: {} });
    rig.runs.onStart = (run) => {
      run.onReply = (reply) => run.write(endWith({ reply }));
      run.write({ type: "ask", asks: [question] });
    };
    const stream = await rig.open({ headers, body: call(1) });
    if (!stream.headers["content-type"]?.startsWith("text/event-stream")) await stream.ended();
    else await stream.message(0);
    return stream.events.length > 0 ? ((await stream.message(0)) as { params?: unknown }) : JSON.parse(stream.text);
  };

  test("names titled choices as 2025-06-18 does", async () => {
    const { params } = await asked("2025-06-18", TITLED);
    expect(params.requestedSchema.properties.colour).toEqual({ type: "string", enum: ["#f00"], enumNames: ["Red"] });
  });

  test.each([
    ["2025-06-18", "several choices at once", SEVERAL],
    ["2025-06-18", "an address to open", ask("q", "elicit", { mode: "url", url: "https://x", message: "m" })],
    ["2025-03-26", "a form", TITLED],
    ["2024-11-05", "a form", TITLED],
  ])("that %s has no form for is refused at once, though it declared elicitation: %s", async (version, _, question) => {
    const { result } = await asked(version, question);
    expect(result.reply).toMatchObject({
      answers: [{ key: "q", outcome: "fault", payload: { text: expect.any(String) } }],
    });
  });

  test.each([TITLED, SEVERAL])("goes to 2025-11-25 as it is: $input.text", async (question) => {
    const { params } = await asked("2025-11-25", question);
    expect(params).toEqual(question.input.value());
  });

  test("is the same again for a client that comes back for it", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-06-18", { elicitation: {} });
    rig.runs.onStart = (run) => run.write({ type: "ask", asks: [TITLED] });
    const first = await rig.open({ headers, body: call(1) });
    const before = await first.message(0);
    first.close();
    await until(() => !rig.runs.last.isRead);
    const place = { ...headers, "last-event-id": `${rig.runs.last.id}.-1` };
    expect(await (await rig.open({ method: "GET", headers: place })).message(0)).toEqual(before);
  });

  test("outside any call is changed or refused as one in a call is", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2025-06-18", { elicitation: {} });
    const listening = await rig.open({ method: "GET", headers });
    const session = rig.sessions.find(headers["mcp-session-id"] ?? "", { id: "local" });
    const never = new AbortController().signal;
    if (!session) throw new Error("no session");
    await expect(rig.sessions.ask(session, SEVERAL, never)).rejects.toMatchObject({ code: "NOT_ALLOWED" });
    const answer = rig.sessions.ask(session, TITLED, never);
    const { id, ...asked } = await listening.message(0);
    expect(JSON.stringify(asked)).toContain('"enumNames":["Red"]');
    await rig.send({ headers, body: JSON.stringify({ jsonrpc: "2.0", id, result: { action: "decline" } }) });
    expect((await answer).payload.text).toBe('{"action":"decline"}');
  });
});

describe("content for a client of an older revision", () => {
  const LINK = { type: "resource_link", uri: "a:b", name: "n" };
  const AUDIO = { type: "audio", data: "AA==", mimeType: "audio/wav" };

  test.each([
    ["2024-11-05", ["text", "text"]],
    ["2025-03-26", ["text", "audio"]],
    ["2025-06-18", ["resource_link", "audio"]],
    ["2025-11-25", ["resource_link", "audio"]],
  ])("of %s has the types %j", async (version, types) => {
    await using rig = await mcpRig();
    const headers = await rig.initialize(version);
    rig.runs.onStart = (run) => run.write(endWith({ content: [LINK, AUDIO] }));
    const answer = await rig.send({ headers, body: call(1) });
    const { result } = answer.json<{ result: { content: { type: string }[] } }>();
    expect(result.content.map(({ type }) => type)).toEqual(types);
  });

  test("that came from a server as an error of its own is not looked at", async () => {
    await using rig = await mcpRig();
    const headers = await rig.initialize("2024-11-05");
    const error = { code: 1, message: "m", content: [LINK] };
    rig.runs.onStart = (run) => run.write({ type: "end", outcome: "fault", payload: payload(jsonText(error)) });
    expect((await rig.send({ headers, body: call(1) })).json()).toMatchObject({ error });
  });
});
