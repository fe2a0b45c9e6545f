/** One call from end to end, with everything that may be said in it, compared byte for byte at each arrival. */
import fc from "fast-check";
import { expect } from "vitest";
import type { Conversation } from "./client.ts";
import * as client from "./client-text.ts";
import { type Lane, NAMES } from "./lane.ts";
import { idText, type RequestText, spelled } from "./mcp-text.ts";
import type { Received } from "./recording.ts";
import * as server from "./server-text.ts";
import { type Filling, fill } from "./template.ts";

type Named = RequestText & { readonly names: "tool" | "prompt" | "uri" | "template" | "nothing" };

/** `withdrawal`: the server takes its question back instead of waiting for the answer. */
type Asking = server.Question & { type: "ask"; id: string; token: string; withdrawal: string | undefined };

export type Scenario = {
  readonly request: Named;
  /** The name as the client spells it where the view leaves it as it is. */
  readonly name: string;
  readonly id: string;
  readonly token: string;
  readonly between: readonly (server.Said | Asking)[];
  readonly end: string;
};

const named = (arbitrary: fc.Arbitrary<RequestText>, names: Named["names"]): fc.Arbitrary<Named> =>
  arbitrary.map((request) => ({ ...request, names }));

const anyRequest = fc.oneof(
  { weight: 4, arbitrary: named(client.toolCall, "tool") },
  named(client.promptGet, "prompt"),
  named(client.resourceRead, "uri"),
  named(client.promptCompletion, "prompt"),
  named(client.templateCompletion, "template"),
  named(client.unknownRequest, "nothing"),
);

const question = fc
  .tuple(server.asked, idText, idText, fc.option(client.cancel, { nil: undefined, freq: 4 }))
  .map(([asked, id, token, withdrawal]): Asking => ({ ...asked, type: "ask", id, token, withdrawal }));

export function scenarioFor(lane: Lane): fc.Arbitrary<Scenario> {
  const step = fc.oneof({ weight: 2, arbitrary: server.said }, { weight: 1, arbitrary: question });
  const between = lane.streams ? fc.array(step, { maxLength: 4 }) : fc.constant([]);
  return anyRequest.chain((request) =>
    fc.record({
      request: fc.constant(request),
      name: request.names === "nothing" ? fc.constant("") : spelled(shown(lane, request.names)),
      id: idText,
      token: idText,
      between,
      end: server.answerText,
    }),
  );
}

function shown(lane: Lane, names: "tool" | "prompt" | "uri" | "template"): string {
  const isRenamed = lane.prefix !== "" && (names === "tool" || names === "prompt");
  return isRenamed ? `${lane.prefix}.${NAMES[names]}` : NAMES[names];
}

/** The name as the server must get it: as it was spelled, unless the view gave it another. */
function ownName(lane: Lane, { request, name }: Scenario): string {
  const isRenamed = lane.prefix !== "" && (request.names === "tool" || request.names === "prompt");
  return isRenamed ? JSON.stringify(NAMES[request.names as "tool"]) : name;
}

export async function playScenario(lane: Lane, scenario: Scenario): Promise<void> {
  const { request, name, id, token } = scenario;
  const call = lane.client.request(fill(request.template, { id, token, name }));
  const received = await lane.upstream.received.next();
  const own: Filling = { ...fieldsOf(received.message), name: ownName(lane, scenario) };
  expect(received.text).toBe(lane.up(fill(request.template, own)));
  for (const step of scenario.between) {
    if (step.type === "ask") await ask(lane, received, call, step);
    else await say(lane, received, call, step, request.hasToken ? { ours: own.token ?? "", theirs: token } : undefined);
  }
  received.answer(fill(scenario.end, { id: own.id ?? "" }));
  expect(await call.inbox.next()).toBe(lane.down(fill(scenario.end, { id })));
}

async function say(
  lane: Lane,
  received: Received,
  call: Conversation,
  step: server.Said,
  token: { ours: string; theirs: string } | undefined,
): Promise<void> {
  if (step.type === "progress" && token === undefined) return;
  received.send(fill(step.template, { token: token?.ours ?? "" }));
  // On a pipe nothing says which call an unknown notification belongs to.
  const { inbox } = step.type === "notice" && lane.kind === "http to stdio" ? { inbox: lane.client.outside } : call;
  expect(await inbox.next()).toBe(lane.down(fill(step.template, { token: token?.theirs ?? "" })));
}

/** The question goes down, progress on it and the answer come up. */
async function ask(lane: Lane, received: Received, call: Conversation, step: Asking): Promise<void> {
  const { id, token } = step;
  received.send(fill(step.template, { id, token }));
  const text = await call.inbox.next();
  const seen = fieldsOf(JSON.parse(Buffer.from(text, "latin1").toString("utf8")));
  expect(text).toBe(lane.down(fill(step.template, seen)));
  if (step.hasToken) {
    await lane.client.tell(fill(step.progress, { token: seen.token ?? "" }));
    expect((await lane.upstream.received.next()).text).toBe(lane.up(fill(step.progress, { token })));
  }
  if (step.withdrawal !== undefined) {
    received.send(fill(step.withdrawal, { about: id }));
    return expect(await call.inbox.next()).toBe(lane.down(fill(step.withdrawal, { about: seen.id ?? "" })));
  }
  await lane.client.tell(fill(step.answer, { id: seen.id ?? "" }));
  expect((await lane.upstream.received.next()).text).toBe(lane.up(fill(step.answer, { id })));
}

/** What the gateway put into the holes of a message. */
function fieldsOf(message: Record<string, unknown>): Filling {
  const params = message.params as { _meta?: { progressToken?: unknown } } | undefined;
  const token = params?._meta?.progressToken;
  return { id: JSON.stringify(message.id), ...(token === undefined ? {} : { token: JSON.stringify(token) }) };
}
