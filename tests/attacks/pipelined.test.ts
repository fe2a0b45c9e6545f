/** Asking again and again without waiting for an answer, so that nobody else has a turn. */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const CONNECTIONS = 32;
/** Of heads that are sent at once, on each. */
const BYTES = 60_000;
const LASTS_MS = 3_000;
/** Of somebody else, one after the other, in that time. */
const LEAST_CALLS = 10;

const config = `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n${helloServer()}`;
const tokens = { ann: ["--user", "ann"] };

const get = (path: string, lines = "") => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`;
const wrongToken = (place: number) => `isth_${String(place).padStart(43, "a")}`;

/** By the number of the request. */
const asked: [string, (place: number) => string][] = [
  ["pages of approvals", () => get("/approvals/x.y")],
  ["the place to which people come back", () => get("/oauth/callback?state=abc")],
  ["tools, with tokens that are wrong", (place) => get("/mcp", `Authorization: Bearer ${wrongToken(place)}\r\n`)],
  ["whether it serves", () => get("/healthz")],
];

function requests(one: (place: number) => string): string {
  let text = "";
  for (let place = 0; text.length < BYTES; place++) text += one(place);
  return text;
}

/** Until the end, on so many connections: whatever fits is written, and answers are thrown away. Who calls here has turns, too. */
function flood(field: Attacked, text: string, until: number): void {
  for (let count = 0; count < CONNECTIONS; count++) {
    const { hostname: host, port } = new URL(field.origin(count % field.processes));
    const socket = connect({ host, port: Number(port) });
    const goOn = () => {
      if (performance.now() > until) socket.destroy();
      else if (socket.write(text)) setImmediate(goOn);
    };
    socket.on("connect", goOn).on("drain", goOn).resume();
    socket.on("error", () => {});
    setTimeout(() => socket.destroy(), until - performance.now());
  }
}

async function countCalls(url: string, headers: Record<string, string>, until: number): Promise<number> {
  let calls = 0;
  for (; performance.now() < until; calls++) {
    const answer = await post(url, toolCall(1, "hello.greet", { name: "Ann" }), headers);
    expect(JSON.stringify(answer.messages.at(-1)?.result)).toContain("Hello, Ann!");
  }
  return calls;
}

describeAttacks("requests that wait for no answer", { config, tokens }, (field) => {
  test.each(asked)("and ask for %s leave others their turns", async (_, one) => {
    const url = `${field.origin(0)}/mcp`;
    const headers = { ...field.as("ann"), ...(await openSession(url, {}, field.as("ann"))) };
    const until = performance.now() + LASTS_MS;
    flood(field, requests(one), until);
    expect(await countCalls(url, headers, until)).toBeGreaterThanOrEqual(LEAST_CALLS);
  });
});
