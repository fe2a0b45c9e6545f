import type { ConnectFlags } from "../client/connect.ts";
import { Prompter, type Terminal } from "../client/prompter.ts";
import { Ending } from "../ending.ts";
import type { JsonObject } from "../json.ts";
import { GatewayApi, MAX_LISTED } from "../operator/gateway-api.ts";
import { isLink, linkedApproval } from "../operator/linked-approval.ts";
import { defaultKeyFile, readOperatorKey } from "../operator/operator-key.ts";
import { callerOf, callLines, refuseOtherText, seen } from "../operator/shown-call.ts";
import { signProof } from "../operator/sign-proof.ts";
import { outputWidth, print, printJson, say } from "../output/console.ts";
import { cut } from "../output/plain.ts";
import { tableLines } from "../output/table.ts";

/** Lists the calls that wait, and with `all` those that do not any more. */
export async function approvals(options: ConnectFlags & { all?: boolean; json?: boolean }): Promise<void> {
  const found = await new GatewayApi(options).approvals(options.all ? undefined : "waiting");
  if (options.json) return printJson({ approvals: found });
  if (found.length === 0) return print(options.all ? "There are no approvals." : "No call waits for an approval.");
  const width = outputWidth();
  const rows = found.map((one) => [shortId(one), seen(one.state), seen(one.tool), callerOf(one), seen(one.expires_at)]);
  const [heading = "", ...lines] = tableLines([["ID", "STATE", "TOOL", "CALLER", "EXPIRES"], ...rows], { width });
  print(heading);
  for (const [index, line] of lines.entries()) {
    print(line);
    print(cut(`  ${seen(found[index]?.arguments_text)}`, width));
  }
  if (found.length === MAX_LISTED)
    say(`these are the newest ${MAX_LISTED}; approve and deny find others by a whole id`);
}

export type DecideOptions = ConnectFlags & {
  latest?: boolean;
  key?: string;
  yes?: boolean;
  print?: boolean;
  json?: boolean;
};

/** Shows a call that waits, and says yes or no to it; on a terminal only when somebody there has seen it and agrees. */
export async function decide(
  decision: "approve" | "deny",
  id: string | undefined,
  options: DecideOptions,
  terminal = decidersTerminal(),
): Promise<void> {
  if ((id === undefined) === (options.latest !== true)) {
    throw new Ending("usage", [`say which call: an id that "isthmus approvals" shows, or --latest`]);
  }
  if (id !== undefined && isLink(id) && !options.print)
    throw new Ending("usage", ["a link needs --print: what it prints goes to its page"]);
  const key = readOperatorKey(options.key ?? defaultKeyFile());
  const approval = id !== undefined && isLink(id) ? await linkedApproval(id) : await find(id, options);
  for (const line of callLines(approval)) (options.print || options.json ? say : print)(line);
  if (!options.yes && terminal) await makeSure(decision, terminal);
  if (options.print) return printProof(signProof(key, approval, decision), options);
  const status = await new GatewayApi(options).confirm(key, approval, decision);
  if (options.json) return printJson({ status, confirmation_id: approval.confirmation_id });
  print();
  print(OUTCOMES[status] ?? status);
}

function printProof(proof: string, { json }: DecideOptions): void {
  if (json) printJson({ type: "operator_signature", format: "jws", value: proof });
  else print(proof);
}

const OUTCOMES: Readonly<Record<string, string>> = {
  dispatched: "Approved: the caller was waiting, and the call was made.",
  approved: "Approved: the call is made when the caller makes it again.",
  denied: "Denied: the call is not made.",
};

const WHOLE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function find(id: string | undefined, options: DecideOptions): Promise<JsonObject> {
  const api = new GatewayApi(options);
  const found = id !== undefined && WHOLE_ID.test(id) ? await api.approval(id) : await choose(api, id);
  if (found?.state !== "waiting") {
    const about = id === undefined ? "no call" : `no call ${JSON.stringify(id)}`;
    throw new Ending("failure", [`${about} waits for an approval; "isthmus approvals" lists those that do`]);
  }
  refuseOtherText(found, "do not trust this gateway, or update it");
  return found;
}

/** The newest one, or the one whose id begins so. */
async function choose(api: GatewayApi, id: string | undefined): Promise<JsonObject | undefined> {
  if (id === undefined) return (await api.approvals("waiting", 1))[0];
  const waiting = await api.approvals("waiting");
  const [found, another] = waiting.filter((one) => seen(one.confirmation_id).startsWith(id));
  if (another) throw new Ending("usage", [`several ids begin with ${JSON.stringify(id)}; write more of it`]);
  return found;
}

/** The question stays apart from what is printed. */
function decidersTerminal(): Terminal | undefined {
  const { stdin: input, stderr: output } = process;
  return input.isTTY ? { input, output } : undefined;
}

async function makeSure(decision: string, terminal: Terminal): Promise<void> {
  const prompter = new Prompter(terminal);
  prompter.tell("");
  const answer = await prompter.ask(`${decision} it? [y/N] `);
  prompter.close();
  if (!/^y(es)?$/i.test(answer?.trim() ?? "")) throw new Ending("failure", ["nothing was decided"]);
}

function shortId({ confirmation_id }: JsonObject): string {
  return seen(confirmation_id).slice(0, 8);
}
