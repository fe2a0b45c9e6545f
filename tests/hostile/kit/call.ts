/** Calls of tools, and what became of them in one word. */
import { openSession, post, type RpcMessage, toolCall } from "../../e2e/kit/rpc.ts";

export type Session = Readonly<Record<string, string>>;

export { openSession };

let lastId = 1000;

export async function callTool(
  url: string,
  session: Session,
  name: string,
  args: object = {},
  meta?: object,
): Promise<RpcMessage> {
  const { messages, status } = await post(url, toolCall(++lastId, name, args, meta), session);
  const answer = messages.at(-1);
  if (answer?.id !== lastId && messages.length === 0) throw new Error(`HTTP ${status} without an answer`);
  return answer as RpcMessage;
}

/** ok; the code of our own error; or fault and the number of the server's. */
export function outcomeOf(answer: RpcMessage): string {
  if (answer.error) {
    const { code } = (answer.error.data ?? {}) as { code?: string };
    return code ?? `fault ${answer.error.code}`;
  }
  const meta = answer.result?._meta as { "dev.isthmus/error"?: { code: string } } | undefined;
  return meta?.["dev.isthmus/error"]?.code ?? "ok";
}

/** The text of a result's first content block. */
export function textOf(answer: RpcMessage): string | undefined {
  return (answer.result?.content as { text?: string }[] | undefined)?.[0]?.text;
}
