import { readReport } from "../client/call-report.ts";
import { NoAnswer } from "../client/channel.ts";
import { type ConnectFlags, gatewayUrl } from "../client/gateway-url.ts";
import { type HttpAnswer, jsonOf } from "../client/http-get.ts";
import { nobodyThere } from "../client/nobody-there.ts";
import { sayElsewhere } from "../client/operate.ts";
import { refusalOf } from "../client/refusal.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, objectsIn } from "../json.ts";
import { lookAsOperator } from "../operator/send-as-operator.ts";
import { print, printJson, tableWidth } from "../output/console.ts";
import { callLines, isMeant, traceLines } from "../output/trace-lines.ts";
import { PROGRAM } from "../program-name.ts";

const TIMEOUT_MS = 5_000;
const SHOWN = 20;

/** Shows how a recent call went, step by step; without an id, which calls there were. */
export async function trace(callId: string | undefined, options: ConnectFlags & { json?: boolean }): Promise<void> {
  const url = gatewayUrl(options);
  await sayElsewhere(options);
  if (callId === undefined) return showCalls(await lastCalls(url, options), options.json ?? false);
  const answer = await ask(new URL(`/api/calls/${encodeURIComponent(callId)}`, url), options);
  const found =
    answer.status === 200
      ? jsonOf(answer)
      : (await lastCalls(url, options)).find((call) => isMeant(callId, readReport(call)));
  if (found === undefined) {
    throw new Ending("failure", [
      `no call ${JSON.stringify(callId)} among the last ones; "${PROGRAM} trace" lists them`,
    ]);
  }
  if (options.json) return printJson(found);
  for (const line of traceLines(readReport(found), tableWidth())) print(line);
}

async function lastCalls(url: URL, flags: ConnectFlags): Promise<readonly JsonObject[]> {
  return objectsIn(objectOf(jsonOf(await ask(new URL("/api/calls", url), flags))).calls);
}

async function ask(url: URL, flags: ConnectFlags): Promise<HttpAnswer> {
  let answer: HttpAnswer;
  try {
    answer = await lookAsOperator({ method: "GET", url, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw await nobodyThere(url, error, flags);
  }
  const { calls, callId, code } = objectOf(jsonOf(answer));
  if (answer.status === 200 && (calls ?? callId) !== undefined) return answer;
  if (answer.status === 404 && code === "NO_SUCH_TARGET") return answer;
  throw (
    refusalOf(url, answer, "viewer") ??
    new Ending("unreachable", [`${url.href} answered HTTP ${answer.status}; is another program there?`])
  );
}

function showCalls(all: readonly JsonObject[], isJson: boolean): void {
  const calls = all.slice(0, SHOWN);
  if (isJson) return printJson({ calls });
  if (calls.length === 0) return print("No call has finished yet.");
  for (const line of callLines(calls.map(readReport), tableWidth())) print(line);
  print();
  print(`${PROGRAM} trace <call> shows one of them step by step.`);
}
