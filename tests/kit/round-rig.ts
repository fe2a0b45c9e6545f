/** A rig whose tool asks questions, and a client that answers them. */
import { type Ask, type AskKind, jsonText, payload } from "../../src/contract/index.ts";
import type { FakeRun } from "./fake-runs.ts";
import { mcpRig, type SendOptions, until } from "./mcp-rig.ts";
import { type ModernOptions, modernCall } from "./modern-client.ts";

export const ALL = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

const METHODS: Record<string, string> = {
  elicit: "elicitation/create",
  sample: "sampling/createMessage",
  roots: "roots/list",
};

export function ask(key: string, kind: AskKind = "elicit", params: object = { message: key }): Ask {
  return { key, kind, method: METHODS[kind] ?? "vendor/ask", input: payload(jsonText(params)) };
}

export type Asked = {
  resultType: string;
  inputRequests: Record<string, { method: string; params: Record<string, unknown> }>;
  requestState: string;
};

/** What a client does when it is asked: the same call with answers. */
export function retry(
  state: string | undefined,
  inputResponses?: unknown,
  options: ModernOptions & { args?: object; more?: Record<string, unknown> } = {},
): SendOptions {
  const { args = { x: 1 }, more = {}, ...rest } = options;
  const answers = {
    ...(inputResponses === undefined ? {} : { inputResponses }),
    ...(state === undefined ? {} : { requestState: state }),
    ...more,
  };
  return modernCall(args, { id: 2, capabilities: ALL, ...rest, more: answers });
}

export async function roundRig(options: Parameters<typeof mcpRig>[0] = {}) {
  const rig = await mcpRig(options);

  /** Sends, and lets the quiet window pass once `run` has written `asks`. */
  async function asked(sent: SendOptions, asks: readonly Ask[]): Promise<Asked> {
    const before = rig.runs.started.length;
    const answer = rig.send(sent);
    await until(() => rig.runs.started.length > before);
    rig.runs.last.write({ type: "ask", asks });
    rig.time.advance(25);
    return (await answer).json<{ result: Asked }>().result;
  }

  /** A call with one question, and its state. */
  async function suspended(): Promise<{ run: FakeRun; state: string }> {
    const { requestState } = await asked(modernCall({ x: 1 }, { capabilities: ALL }), [ask("q1")]);
    return { run: rig.runs.last, state: requestState };
  }

  return { ...rig, asked, suspended };
}
