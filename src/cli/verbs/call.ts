import { ArgumentFault, readArguments } from "../arguments/typed-arguments.ts";
import { CallNotices } from "../client/call-notices.ts";
import { cancellable } from "../client/cancellable.ts";
import { NoAnswer } from "../client/channel.ts";
import { type ConnectFlags, connect } from "../client/connect.ts";
import { findTool } from "../client/find-tool.ts";
import { RpcFault } from "../client/mcp-client.ts";
import { ownTerminal, QUESTION_CAPABILITIES, TerminalQuestions } from "../client/questions.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf } from "../json.ts";
import { printJson, say } from "../output/console.ts";
import { plainLine } from "../output/plain.ts";
import { resultText } from "../output/result-text.ts";

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
    show(name, result, options.json ?? false);
  } catch (error) {
    notices.end();
    throw describeFailure(name, error);
  } finally {
    await connection.close();
  }
}

function wantedToAsk(result: JsonObject): boolean {
  return result.isError === true && /elicitation/i.test(resultText(result, true));
}

function show(name: string, result: JsonObject, isJson: boolean): void {
  const ours = objectOf(objectOf(result._meta)["dev.isthmus/error"]);
  if (isJson) printJson(result);
  // What the gateway says instead of the tool is no result.
  else if (ours.code === undefined) process.stdout.write(resultText(result, process.stdout.isTTY));
  if (ours.code !== undefined) throw failed(name, plainLine(resultText(result, true)), ours);
  if (result.isError === true) throw new Ending("toolError", ["the tool answered that it failed"]);
}

function describeFailure(name: string, error: unknown): unknown {
  if (error instanceof RpcFault) return failed(name, error.message, { code: error.code, ...objectOf(error.data) });
  if (error instanceof ArgumentFault || error instanceof NoAnswer) return failed(name, error.message, {});
  return error;
}

function failed(name: string, message: string, { code, callId }: JsonObject): Ending {
  const traceable = typeof callId === "string" ? [`"isthmus trace ${callId}" shows how far the call came`] : [];
  return new Ending("callFailed", [`${name}: ${message}${code === undefined ? "" : ` (${code})`}`, ...traceable]);
}
