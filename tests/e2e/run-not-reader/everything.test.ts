import { describe, expect, test } from "vitest";
import { openSession } from "../../hostile/kit/call.ts";
import { EventStream } from "../../hostile/kit/event-stream.ts";
import { eventually } from "../../kit/eventually.ts";
import { startGateway } from "../kit/gateway.ts";
import { post, type RpcMessage } from "../kit/rpc.ts";
import { partPath } from "../real-parts/part.ts";
import { taskIdOf } from "./task-upstream.ts";

const EVERYTHING = partPath("@modelcontextprotocol/server-everything/dist/index.js");
const RELATED = "io.modelcontextprotocol/related-task";
const config = `[[servers]]\nid = "every"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(EVERYTHING)}, "stdio"]\n`;
const isAnswer = (message: RpcMessage) => message.id === 3 && message.method === undefined;

describe("a task of server-everything", () => {
  test("waits for input and is answered from another session, after its own has ended", async () => {
    await using gateway = await startGateway({ config });
    const { url } = gateway;
    const first = await openSession(url, { elicitation: {} });
    const params = { name: "every.simulate-research-query", arguments: { topic: "python", ambiguous: true }, task: {} };
    const made = (await post(url, { id: 1, method: "tools/call", params }, first)).messages.at(-1);
    const taskId = taskIdOf(made);
    await fetch(url, { method: "DELETE", headers: first });

    const second = await openSession(url, { elicitation: {} });
    let id = 100;
    const status = async () =>
      (await post(url, { id: ++id, method: "tasks/get", params: { taskId } }, second)).messages.at(-1)?.result?.status;
    expect(await eventually(status, (now) => now === "input_required")).toBe("input_required");

    const message = { id: 3, method: "tasks/result", params: { taskId } };
    using stream = await EventStream.open(url, { method: "POST", headers: second, message });
    const question = await stream.message(({ method }) => method === "elicitation/create");
    expect(question.params?._meta).toMatchObject({ [RELATED]: { taskId } });
    const content = { interpretation: "snake" };
    expect((await post(url, { id: question.id, result: { action: "accept", content } }, second)).status).toBe(202);
    const { result } = await stream.message(isAnswer, 15_000);
    expect(result).toMatchObject({ content: [{ text: expect.stringContaining("python (snake)") }] });
  });
});
