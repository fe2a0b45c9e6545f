/** Two servers that execute whatever reaches them and keep, in order, what three kinds of parser take it for. */
import { parseFirstKeyWins } from "../kit/first-key-wins.ts";
import { offer, type Received } from "../kit/recording.ts";
import { startHttpUpstream } from "../recording-upstream.ts";

/**
 * What reached a server: as JSON.parse reads it, as a reader does that keeps the first of equal keys, and as one does
 * that takes keys for equal when only their case differs.
 */
export type Execution = { readonly last: string; readonly first: string; readonly folded: string };

export type Witnesses = { readonly executed: Execution[]; readonly config: string; close(): Promise<void> };

const tools = (...names: string[]) => ({ tools: names.map(offer.tool) });

export async function startWitnesses(): Promise<Witnesses> {
  const executed: Execution[] = [];
  const witness = (server: string) => (received: Received) => {
    const first = parseFirstKeyWins(Buffer.from(received.text, "latin1").toString("utf8"));
    executed.push({
      last: targetOf(server, received.message),
      first: targetOf(server, first),
      folded: targetOf(server, foldKeys(received.message)),
    });
    if (received.message.id === undefined) return;
    const text = JSON.stringify({ content: [{ type: "text", text: server }] });
    received.answer(`{"jsonrpc":"2.0","id":${JSON.stringify(received.message.id)},"result":${text}}`);
  };
  const files = await startHttpUpstream({
    offers: tools("safe", "danger", "read", "a.b", "sentinel"),
    answers: "json",
    onReceived: witness("files"),
  });
  const bare = await startHttpUpstream({
    offers: tools("safe", "danger", "files.read", "a.b"),
    answers: "json",
    onReceived: witness("bare"),
  });
  const config = [
    "[gateway]\nsse = true\n",
    `[[servers]]\nid = "files"\nera = "2025"\n${files.address}\n`,
    `[[servers]]\nid = "bare"\nera = "2025"\nprefix = ""\n${bare.address}\n`,
  ].join("\n");
  return { executed, config, close: async () => void (await Promise.all([files.close(), bare.close()])) };
}

/** The message under its keys in lower case; of two that become equal the last one counts. */
function foldKeys(message: object): object {
  const fold = (value: object) =>
    Object.fromEntries(Object.entries(value).map(([key, member]) => [key.toUpperCase().toLowerCase(), member]));
  const { params, ...rest } = fold(message) as { params?: unknown };
  return { ...rest, params: typeof params === "object" && params !== null ? fold(params) : params };
}

/** As the gateway's log names targets: the tool of a tool call, the method of anything else. */
function targetOf(server: string, message: unknown): string {
  const { id, method, params } = message as { id?: unknown; method?: string; params?: { name?: string } };
  if (id === undefined) return `${server}/notification ${method}`;
  return `${server}/${method === "tools/call" ? params?.name : method}`;
}

/** The targets of the finished calls in a gateway's log, in order. */
export function loggedTargets(log: string): string[] {
  const lines = log.split("\n").filter((line) => line.includes('"call finished"'));
  return lines.map((line) => (JSON.parse(line) as { target: string }).target);
}
