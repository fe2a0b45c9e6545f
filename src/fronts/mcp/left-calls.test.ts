/** What a session knows of calls whose client went away. */
import { describe, expect, test } from "vitest";
import { ScriptedProvider } from "../../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../../tests/kit/test-kernel.ts";
import { type CallEvent, LOCAL, payload } from "../../contract/index.ts";
import { Session } from "../../mechanisms/sessions/index.ts";
import { CallReader } from "./call-reader.ts";
import type { Outlet } from "./outlet.ts";

const END: CallEvent = { type: "end", outcome: "result", payload: payload('{"content":[]}') };
const QUESTION: CallEvent = {
  type: "ask",
  asks: [{ key: "k", kind: "elicit", method: "elicitation/create", input: payload('{"message":"ok?"}') }],
};

/** A stream that a client may come back for; whether it has room is up to the test. */
class KeptOutlet implements Outlet {
  readonly canStream = true;
  readonly isKept = true;
  readonly namesSession = false;
  readonly sent: string[] = [];
  hasRoom = true;

  opened(): void {}
  bind(): void {}
  answerParts(): void {}
  drop(): void {}
  release = () => false;
  answer = (text: string) => void this.sent.push(text);
  send(text: string): boolean {
    this.sent.push(text);
    return this.hasRoom;
  }
}

function newSession(): Session {
  const voice = {
    notice: () => undefined,
    listChanged: () => [],
    question: () => undefined,
    withdrawal: () => "",
    ended() {},
  };
  const client = { capabilities: payload('{"elicitation":{}}'), clientInfo: payload("{}"), canBeAsked: true };
  return new Session("s", { voice, principal: LOCAL, catalog: "", protocol: "2025-11-25", ...client }, 0, false);
}

async function start(session = newSession(), requestId = "1") {
  const provider = new ScriptedProvider("p", ["tool"]);
  const { kernel, order } = await testKernel([provider]);
  const readerTo = (outlet: Outlet) => {
    const reader = new CallReader(session, requestId, "tools/call", undefined, outlet);
    session.addRunning(requestId, reader);
    return reader;
  };
  const outlet = new KeptOutlet();
  const reader = readerTo(outlet);
  const run = kernel.runs.start(order("p.tool"), reader);
  reader.began(run);
  await flush();
  return {
    session,
    run,
    reader,
    outlet,
    readerTo,
    write: (event: CallEvent) => void provider.calls.get(run.id)?.write(event),
  };
}

describe("a session", () => {
  test("knows a call that its client has left while it runs, and lets it and its questions go when it has ended", async () => {
    const { session, reader, write } = await start();
    write(QUESTION);
    reader.left();
    expect(session.runningCall("1")).toBe(reader);
    expect(session.openAsk("1")).toBeDefined();
    write(END);
    expect(session.runningCall("1")).toBeUndefined();
    expect(session.asks?.size).toBe(0);
  });

  test("lets go of a call that has ended when its client, which read too slowly to hear of it, leaves", async () => {
    const { session, reader, outlet, write } = await start();
    outlet.hasRoom = false;
    write(QUESTION);
    write(END);
    expect(session.runningCall("1")).toBe(reader);
    reader.left();
    expect(session.runningCall("1")).toBeUndefined();
    expect(session.asks?.size).toBe(0);
  });

  test("knows a call whose client may hear no more of it while it runs, and lets it go when it has ended", async () => {
    const { session, reader, outlet, write } = await start();
    reader.refusal = () => "refused";
    write(QUESTION);
    expect(outlet.sent).toEqual(["refused"]);
    expect(session.runningCall("1")).toBe(reader);
    write(END);
    expect(session.runningCall("1")).toBeUndefined();
  });

  test("lets go of a reader whose client is back, and not of the one that has its place", async () => {
    const { session, reader, readerTo } = await start();
    reader.replaced();
    expect(session.runningCall("1")).toBeUndefined();
    const next = readerTo(new KeptOutlet());
    reader.replaced();
    expect(session.runningCall("1")).toBe(next);
  });

  test("knows the call of a client that came back and left again until it has ended", async () => {
    const { session, run, reader, readerTo, write } = await start();
    reader.left();
    reader.replaced();
    const next = readerTo(new KeptOutlet());
    next.rejoin(run, -1);
    next.left();
    expect(session.runningCall("1")).toBe(next);
    write(END);
    expect(session.runningCall("1")).toBeUndefined();
  });

  test("has nothing of many calls that ended after their clients had gone", async () => {
    const session = newSession();
    for (let number = 0; number < 20; number++) {
      const { reader, write } = await start(session, String(number));
      reader.left();
      write(END);
    }
    expect(session.takeRunning()).toEqual([]);
  });
});

describe("a client that comes back for the end of a call", () => {
  test("is not asked again what the call had asked", async () => {
    const { session, run, reader, outlet, readerTo, write } = await start();
    write(QUESTION);
    expect(outlet.sent).toEqual([expect.stringContaining("elicitation/create")]);
    reader.left();
    write(END);
    const back = new KeptOutlet();
    readerTo(back).rejoin(run, -1);
    expect(back.sent).toEqual([expect.stringContaining('"result"')]);
    expect(session.asks?.size).toBe(0);
  });

  test("is asked again while the call waits for the answer", async () => {
    const { run, reader, outlet, readerTo, write } = await start();
    write(QUESTION);
    reader.left();
    const back = new KeptOutlet();
    readerTo(back).rejoin(run, -1);
    expect(back.sent).toEqual(outlet.sent);
  });
});
