import { createInterface } from "node:readline/promises";
import type { ConnectFlags } from "../client/connect.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, textOf } from "../json.ts";
import { GatewayApi } from "../operator/gateway-api.ts";
import { isLink, linkedApproval } from "../operator/linked-approval.ts";
import { defaultKeyFile, readOperatorKey } from "../operator/operator-key.ts";
import { signProof } from "../operator/sign-proof.ts";
import { outputWidth, print, printJson, say } from "../output/console.ts";
import { plainLine } from "../output/plain.ts";
import { tableLines } from "../output/table.ts";

/** Lists the calls that wait, and with `all` those that do not any more. */
export async function approvals(options: ConnectFlags & { all?: boolean; json?: boolean }): Promise<void> {
  const found = await new GatewayApi(options).approvals(options.all ? undefined : "waiting");
  if (options.json) return printJson({ approvals: found });
  if (found.length === 0) return print(options.all ? "There are no approvals." : "No call waits for an approval.");
  const rows = found.map((one) => [shortId(one), said(one.state), said(one.tool), callerOf(one), said(one.expires_at)]);
  const heading = ["ID", "STATE", "TOOL", "CALLER", "EXPIRES"];
  for (const line of tableLines([heading, ...rows], { width: outputWidth() })) print(line);
}

export type DecideOptions = ConnectFlags & {
  latest?: boolean;
  key?: string;
  yes?: boolean;
  print?: boolean;
  json?: boolean;
};

/** Shows a call that waits, and says yes or no to it. */
export async function decide(
  decision: "approve" | "deny",
  id: string | undefined,
  options: DecideOptions,
): Promise<void> {
  if ((id === undefined) === (options.latest !== true)) {
    throw new Ending("usage", [`say which call: an id that "isthmus approvals" shows, or --latest`]);
  }
  const key = readOperatorKey(options.key ?? defaultKeyFile());
  if (options.print) return printProof(signProof(key, await find(id, options), decision), options);
  if (id !== undefined && isLink(id))
    throw new Ending("usage", ["a link needs --print: what it prints goes to its page"]);
  const api = new GatewayApi(options);
  const approval = choose(await api.approvals("waiting"), id);
  if (!options.json) for (const line of describe(approval)) print(line);
  if (id === undefined && !options.yes && process.stdin.isTTY) await makeSure(decision);
  const status = await api.confirm(key, approval, decision);
  if (options.json) return printJson({ status, confirmation_id: approval.confirmation_id });
  print();
  print(OUTCOMES[status] ?? status);
}

/** What would be signed, shown beside the proof. */
async function find(id: string | undefined, options: DecideOptions): Promise<JsonObject> {
  const isLinked = id !== undefined && isLink(id);
  const approval = isLinked ? await linkedApproval(id) : choose(await new GatewayApi(options).approvals("waiting"), id);
  for (const line of describe(approval)) say(line);
  return approval;
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

function choose(waiting: readonly JsonObject[], id: string | undefined): JsonObject {
  const meant =
    id === undefined ? waiting.slice(0, 1) : waiting.filter((one) => said(one.confirmation_id).startsWith(id));
  const [found, another] = meant;
  if (!found)
    throw new Ending("failure", [
      id === undefined
        ? "no call waits for an approval"
        : `no call ${JSON.stringify(id)} waits; "isthmus approvals" lists them`,
    ]);
  if (another) throw new Ending("usage", [`several ids begin with ${JSON.stringify(id)}; write more of it`]);
  return found;
}

function describe(approval: JsonObject): string[] {
  return [
    said(approval.tool),
    `  arguments  ${plainLine(textOf(approval.arguments_text) ?? JSON.stringify(approval.arguments ?? {}))}`,
    `  caller     ${callerOf(approval)}`,
    `  reason     ${said(approval.reason)}, needs ${said(approval.evidence)}`,
    `  expires    ${said(approval.expires_at)}`,
    `  id         ${said(approval.confirmation_id)}`,
  ];
}

async function makeSure(decision: string): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`\n${decision} it? [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Ending("failure", ["nothing was decided"]);
}

function callerOf({ requester }: JsonObject): string {
  const { principal, user, tenant } = objectOf(requester);
  return [said(user) || said(principal), said(tenant)].join(" of ");
}

function shortId({ confirmation_id }: JsonObject): string {
  return said(confirmation_id).slice(0, 8);
}

function said(value: unknown): string {
  return plainLine(textOf(value) ?? "");
}
