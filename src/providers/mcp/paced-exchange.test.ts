import { describe, expect, test } from "vitest";
import { atOnce } from "../../../tests/kit/at-once.ts";
import type { HttpClient, HttpFailure, HttpHandler } from "./http/index.ts";
import { sendPaced } from "./paced-exchange.ts";

const HEAD = { status: 200, contentType: "text/event-stream", header: () => undefined, text: "" };
const LOST: HttpFailure = { reason: "reset", sent: true, stale: false };

/** Each piece takes a whole turn of its peer. */
function rig() {
  const told: string[] = [];
  const turns: (() => void)[] = [];
  let now = 0;
  let connection: HttpHandler | undefined;
  const say = (word: string) => () => void told.push(word);
  const client: HttpClient = {
    send(_request, handler) {
      connection = handler;
      const abort = () => handler.onError({ reason: "aborted", sent: true, stale: false });
      return { pause: say("pause"), resume: say("resume"), abort };
    },
    close() {},
    stats: { open: 0, idle: 0, queued: 0 },
  };
  const handler: HttpHandler = {
    onHead: say("head"),
    onData(text) {
      if (text === "!") throw new Error("no");
      told.push(text);
      now += 10;
    },
    onEnd: say("end"),
    onError: ({ reason, cause }) => void told.push(cause === undefined ? reason : `${reason}: ${String(cause)}`),
  };
  const pace = { clock: { now: () => now }, slices: atOnce, later: (turn: () => void) => turns.push(turn) };
  const exchange = sendPaced(client, { method: "GET", head: "" }, handler, pace);
  if (!connection) throw new Error("nothing was sent");
  return {
    exchange,
    connection,
    told: () => told.splice(0),
    async turn() {
      for (const next of turns.splice(0)) next();
      await new Promise(setImmediate);
    },
  };
}

describe("an exchange that is read in turns", () => {
  test("brings what came in one read a part per turn, and its end behind it", async () => {
    const { connection, told, turn } = rig();
    connection.onHead(HEAD);
    connection.onData("a");
    connection.onData("b");
    connection.onEnd();
    expect(told()).toEqual(["head", "a", "pause", "pause"]);
    await turn();
    expect(told()).toEqual(["b", "end"]);
  });

  test("tells that it broke behind what came before that", async () => {
    const { connection, told, turn } = rig();
    connection.onData("a");
    connection.onData("b");
    connection.onError(LOST);
    await turn();
    expect(told()).toEqual(["a", "pause", "pause", "b", "reset"]);
  });

  test("is broken by what cannot be taken, at once and in a later turn", async () => {
    expect(() => rig().connection.onData("!")).toThrow("no");
    const later = rig();
    later.connection.onData("a");
    later.connection.onData("!");
    await later.turn();
    expect(later.told()).toEqual(["a", "pause", "pause", "malformed: Error: no"]);
    const ended = rig();
    ended.connection.onData("a");
    ended.connection.onData("!");
    ended.connection.onEnd();
    await ended.turn();
    expect(ended.told()).toEqual(["a", "pause", "pause", "malformed: Error: no"]);
  });

  test("is read on only when its turn has come and nobody pauses it", async () => {
    const { connection, exchange, told, turn } = rig();
    connection.onData("a");
    exchange.resume();
    expect(told()).toEqual(["a", "pause"]);
    exchange.pause();
    await turn();
    expect(told()).toEqual(["pause"]);
    exchange.resume();
    expect(told()).toEqual(["resume"]);
  });

  test("brings nothing more when it is aborted, and says that once", async () => {
    const open = rig();
    open.connection.onData("a");
    open.connection.onData("b");
    open.exchange.abort();
    await open.turn();
    expect(open.told()).toEqual(["a", "pause", "pause", "aborted"]);
    const ended = rig();
    ended.connection.onData("a");
    ended.connection.onData("b");
    ended.connection.onEnd();
    ended.exchange.abort();
    await ended.turn();
    expect(ended.told()).toEqual(["a", "pause", "pause", "aborted"]);
  });
});
