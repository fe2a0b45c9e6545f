/** Methods of one revision, said in another one, where nobody would look at what they are about. */
import { afterAll, expect, test } from "vitest";
import { post } from "../e2e/kit/rpc.ts";
import { modern } from "../kit/modern-client.ts";
import { describeAttacks } from "./kit/describe-attacks.ts";
import { Places } from "./kit/places.ts";

const places = new Places();
afterAll(() => places.remove());

const METHODS = [
  ...["tasks/get", "tasks/result", "tasks/cancel", "tasks/update", "tasks/peek", "Tasks/get"],
  ...["notifications/cancelled", "notifications/initialized", "Notifications/cancelled", "subscriptions/listen"],
];
const ABOUT = { taskId: "task-1", requestId: 5 };
const refused = { code: expect.toSatisfy((code: number) => code === -32601 || code === -32602) };

describeAttacks("a request that another revision knows", { config: places.table }, (field) => {
  const url = () => `${field.origin()}/places/mcp`;

  test.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])("reaches no server in %s", async (revision) => {
    const headers = { "mcp-protocol-version": revision };
    for (const method of METHODS) {
      const { messages } = await post(url(), { id: 7, method, params: ABOUT }, headers);
      expect(messages.at(-1)?.error, method).toMatchObject(refused);
    }
    const { messages } = await post(url(), { id: 8, method: "x/own", params: {} }, headers);
    expect(messages.at(-1)?.result).toEqual({ reached: "x/own" });
    expect(places.seen).not.toMatch(/task-1|"requestId":5/);
  });

  test("reaches no server in 2026-07-28", async () => {
    for (const method of METHODS.filter((name) => name !== "subscriptions/listen")) {
      const { body, headers } = modern(method, ABOUT);
      const all = { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers };
      const answer = await fetch(url(), { method: "POST", body: body as string, headers: all });
      expect(JSON.parse(await answer.text()).error, method).toMatchObject({ code: expect.any(Number) });
    }
    expect(places.seen).not.toMatch(/task-1|"requestId":5/);
  });
});
