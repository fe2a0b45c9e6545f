/** Having all connections that a process can have: by bodies that never end, and by streams. */
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { Crowd } from "./kit/crowd.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

/** Of which a process has some 110 connections, one of three half of that. */
const OPEN_FILES = 256;
const CONNECTIONS = 160;
const CALLS = 8;

const config = `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n${helloServer()}`;
const tokens = { ann: ["--user", "ann"], mallory: ["--user", "mallory"] };

type Headers = Readonly<Record<string, string>>;
const linesOf = (headers: Headers) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");

/** Its last byte never comes. */
const unfinished = (framing: string, headers: Headers = {}) =>
  `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${linesOf(headers)}${framing}\r\n\r\n`;
const WRONG = { authorization: `Bearer isth_${"a".repeat(43)}` };

const opener = (origin: string) => () => {
  const { hostname: host, port } = new URL(origin);
  return connect({ host, port: Number(port) });
};

/** Each on a connection of its own. */
async function expectCalls(field: Attacked, at: number): Promise<void> {
  const url = `${field.origin(at)}/mcp`;
  const statuses: (number | string)[] = [];
  for (let count = 0; count < CALLS; count++) {
    const headers = { ...field.as("ann"), connection: "close" };
    const answer = await post(url, toolCall(1, "hello.greet", { name: "Ann" }), headers).catch(String);
    statuses.push(typeof answer === "string" ? answer : answer.status);
    await wait(100);
  }
  expect(statuses).toEqual(Array(CALLS).fill(200));
}

describeAttacks("all connections of a process", { config, tokens, openFiles: OPEN_FILES }, (field) => {
  let crowd: Crowd | undefined;
  afterEach(() => crowd?.[Symbol.dispose]());

  const bodies: [string, () => string, string][] = [
    ["bodies that nobody wants", () => `${unfinished("Content-Length: 9000")}{`, " "],
    ["bodies that nobody wants, in chunks", () => unfinished("Transfer-Encoding: chunked"), "1\r\n \r\n"],
    ["bodies that come with a wrong token", () => `${unfinished("Content-Length: 9000", WRONG)}{`, " "],
    ["bodies of somebody known", () => `${unfinished("Content-Length: 90000", field.as("mallory"))}{`, " "],
    ["answers that nobody reads", () => "GET /approvals/x.y HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1_000), ""],
  ];

  test.each(bodies)("are not taken by %s", async (_, first, more) => {
    crowd = new Crowd({ connections: CONNECTIONS, open: opener(field.origin(0)), first, more, reads: more !== "" });
    await expect.poll(() => crowd?.size).toBeGreaterThan(50);
    await wait(500);
    await expectCalls(field, 0);
  });

  test("are not taken by streams of one caller", async () => {
    const url = `${field.origin(0)}/mcp`;
    const sessions: Headers[] = [];
    for (let count = 0; count < CONNECTIONS; count++) {
      const own = { ...field.as("mallory"), connection: "close" };
      // In three processes, two of three have their homes elsewhere.
      sessions.push({
        ...(await openSession(`${field.origin(count % field.processes)}/mcp`, {}, own)),
        ...field.as("mallory"),
      });
    }
    let next = 0;
    const streams = sessions.map(
      (session) => `GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n${linesOf(session)}\r\n`,
    );
    crowd = new Crowd({
      connections: CONNECTIONS,
      open: opener(url),
      first: () => streams[next++ % streams.length] ?? "",
    });
    await expect.poll(() => crowd?.size).toBeGreaterThan(25);
    await wait(500);
    for (let at = 0; at < field.processes; at++) await expectCalls(field, at);
    // What it has of its share, it keeps.
    expect(crowd.size).toBeGreaterThan(5);
  });
});
