/** A caller that repeats a call with an idempotency key, again and again, while it runs. */
import { expect, test } from "vitest";
import { openSession, toolCall } from "../e2e/kit/rpc.ts";
import { openTo, PEOPLE } from "./kit/config-parts.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";

const config = openTo("wordy", "wordy-server.mjs");

const WAITING = 16;
const MORE = 30;

describeAttacks("repeats of a call that runs", { config, tokens: PEOPLE }, (field) => {
  const wait = (id: number, key?: string) =>
    toolCall(id, "wordy.wait", {}, key === undefined ? undefined : { "dev.isthmus/idempotencyKey": key });

  async function send(body: object, headers: Record<string, string>): Promise<string> {
    const response = await fetch(`${field.origin(0)}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify(body),
    });
    return await response.text();
  }

  type Repeat = (id: number, session: Record<string, string>) => Promise<string>;
  const inMessage: Repeat = (id, session) => send({ jsonrpc: "2.0", ...wait(id, "message") }, session);
  const inHeader: Repeat = (id, session) =>
    send({ jsonrpc: "2.0", ...wait(id) }, { ...session, "idempotency-key": "header" });
  const withoutSession: Repeat = (id) =>
    send({ jsonrpc: "2.0", ...wait(id) }, { ...field.as("eve"), "idempotency-key": "alone" });

  test.each([
    ["with the key in the message", inMessage],
    ["with the key in the header", inHeader],
    ["without a session", withoutSession],
  ])("%s wait up to a few, and the rest is refused", async (_how, repeat) => {
    const session = { ...(await openSession(`${field.origin(0)}/mcp`, {}, field.as("eve"))), ...field.as("eve") };
    const answers: string[] = [];
    const all = Array.from({ length: 1 + WAITING + MORE }, (_none, id) =>
      repeat(id + 1, session).then((text) => answers.push(text)),
    );
    await expect.poll(() => answers.length, { timeout: 10_000 }).toBe(MORE);
    expect(answers.every((text) => text.includes("16 repeats wait for its answer already"))).toBe(true);
    // It goes on, and those who wait have its one answer.
    await field.rpc(toolCall(1, "wordy.wake", {}), { as: "ann", at: 0 });
    await Promise.all(all);
    const numbers = answers.slice(MORE).map((text) => /"number":(\d+)/.exec(text)?.[1]);
    expect(numbers).toHaveLength(1 + WAITING);
    expect(new Set(numbers).size).toBe(1);
  });
});
