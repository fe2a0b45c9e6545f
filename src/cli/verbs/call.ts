import { ERROR_KEY, reasonText } from "../../contract/index.ts";
import { readArguments } from "../arguments/typed-arguments.ts";
import { CallNotices } from "../client/call-notices.ts";
import { cancellable } from "../client/cancellable.ts";
import { type Connection, connect } from "../client/connect.ts";
import { callFailed, describeRefusal } from "../client/describe-refusal.ts";
import { findTool } from "../client/find-tool.ts";
import { type ConnectFlags, configuredUrl, parseGatewayUrl } from "../client/gateway-url.ts";
import { ownTerminal, QUESTION_CAPABILITIES, TerminalQuestions } from "../client/questions.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, textOf } from "../json.ts";
import { printJson, printText, say } from "../output/console.ts";
import { plainLine } from "../output/plain.ts";
import { resultText } from "../output/result-text.ts";
import { whereToApprove } from "../output/wait-words.ts";

export type CallOptions = ConnectFlags & { readonly questions?: boolean; readonly json?: boolean };

/** Calls a tool: progress goes to standard error, what it answers to standard output. */
export async function call(name: string, words: readonly string[], options: CallOptions): Promise<void> {
  const terminal = ownTerminal();
  const questions = new TerminalQuestions(terminal);
  const notices = new CallNotices(process.stderr);
  const { connection, tool, canAsk } = await findTool(name, {
    hasTerminal: terminal !== undefined,
    questions: options.questions,
    open: (asks) =>
      connect(options, {
        capabilities: asks ? QUESTION_CAPABILITIES : {},
        onAsk: (method, params) => questions.answer(method, params),
        onNotice: (method, params) => notices.hear(method, params),
      }),
  });
  const { client } = connection;
  try {
    const args = readArguments(words, objectOf(tool.entry.inputSchema));
    const params = { name, arguments: args, _meta: { progressToken: "progress" } };
    const result = await cancellable(
      (onSent) => client.request("tools/call", params, onSent),
      (requestId) => client.notify("notifications/cancelled", { requestId, reason: "Ctrl-C" }),
    );
    notices.end();
    if (terminal && !canAsk && wantedToAsk(result)) say("the tool wanted to ask something; --questions lets it");
    await show(name, result, {
      isJson: options.json ?? false,
      url: namedUrl(options, connection.place),
      connection,
      notices,
    });
  } catch (error) {
    notices.end();
    throw await describeRefusal(name, error, connection);
  } finally {
    await connection.close();
  }
}

function wantedToAsk(result: JsonObject): boolean {
  return result.isError === true && /elicitation/i.test(resultText(result));
}

/** Of a gateway that another verb must be told, too. */
function namedUrl({ url, config }: ConnectFlags, place: Connection["place"]): string | undefined {
  if (url !== undefined) return parseGatewayUrl(url).origin;
  return config === undefined || !place ? undefined : configuredUrl(place)?.origin;
}

type Shown = {
  readonly isJson: boolean;
  readonly url: string | undefined;
  readonly connection: Connection;
  readonly notices: CallNotices;
};

async function show(name: string, result: JsonObject, { isJson, url, connection, notices }: Shown): Promise<void> {
  const ours = objectOf(objectOf(result._meta)[ERROR_KEY]);
  if (isJson) printJson(result);
  // What the gateway says instead of the tool is no result.
  else if (ours.code === undefined) printText(resultText(result));
  const gate = objectOf(objectOf(result._meta)["x-mcpax-gate"]);
  // Without an id nothing waits yet: the call is to be made again.
  if (ours.code === "CONFIRMATION_REQUIRED" && gate.confirmation_id !== undefined)
    throw waiting(name, gate, { url, notices });
  if (ours.code !== undefined) throw await callFailed(name, plainLine(resultText(result)), ours, connection);
  if (result.isError === true) throw new Ending("toolError", ["the tool answered that it failed"]);
}

/** Somebody must say yes first: what for, until when, and how. */
function waiting(name: string, gate: JsonObject, { url, notices }: Pick<Shown, "url" | "notices">): Ending {
  const { reason, expires_at, confirm_url, confirmation_id, nobody_can_approve } = gate;
  const word = (value: unknown) => plainLine(textOf(value) ?? "");
  const known = (value: unknown) => (textOf(value) === undefined ? undefined : word(value));
  const link = known(confirm_url);
  // It fills the screen, and has been said when the call began to wait.
  const page = link !== undefined && notices.hasTold(link) ? "the page above" : link;
  const where = { id: word(confirmation_id), page, missing: known(nobody_can_approve), url };
  return new Ending("callFailed", [
    `${name} was not called: it waits for a yes until ${word(expires_at)}, because ${reasonText(word(reason))}`,
    `${whereToApprove(where)}, then call again`,
  ]);
}
