import { existsSync } from "node:fs";
import { decidedOutcome } from "../../contract/index.ts";
import type { ConnectFlags } from "../client/gateway-url.ts";
import { decidersTerminal, makeSure } from "../client/make-sure.ts";
import { refuseElsewhere, sayElsewhere } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, textOf } from "../json.ts";
import { decideCall } from "../operator/decide-call.ts";
import { GatewayApi } from "../operator/gateway-api.ts";
import { isLink, linkedApproval } from "../operator/linked-approval.ts";
import { defaultKeyFile, type OperatorKey, readOperatorKey } from "../operator/operator-key.ts";
import { callerOf, callLines, refuseOtherText, seen } from "../operator/shown-call.ts";
import { signProof } from "../operator/sign-proof.ts";
import { print, printJson, say, tableWidth } from "../output/console.ts";
import { cut } from "../output/plain.ts";
import { tableLines } from "../output/table.ts";
import { PROGRAM } from "../program-name.ts";

export type ListOptions = ConnectFlags & { all?: boolean; user?: string; principal?: string; json?: boolean };

/** Lists the calls that wait, and with `all` those that do not any more. */
export async function approvals(options: ListOptions): Promise<void> {
  const { all, user, principal } = options;
  await sayElsewhere(options);
  const wanted = { state: all ? undefined : "waiting", user, principal };
  const { found, total } = await new GatewayApi(options).approvals(wanted);
  if (options.json) return printJson({ approvals: found, total });
  if (found.length === 0) return print(options.all ? "There are no approvals." : "No call waits for an approval.");
  const width = tableWidth();
  const rows = found.map((one) => [shortId(one), seen(one.state), seen(one.tool), callerOf(one), seen(one.expires_at)]);
  const [heading = "", ...lines] = tableLines([["ID", "STATE", "TOOL", "CALLER", "EXPIRES"], ...rows], { width });
  print(heading);
  for (const [index, line] of lines.entries()) {
    print(line);
    const name = found[index]?.called_as;
    if (name !== undefined) print(cut(`  called as ${seen(name)}`, width));
    const input = inputText(found[index] ?? {});
    // Of one that is over only the digest is kept.
    if (input !== "") print(cut(`  ${input}`, width));
    const also = found[index]?.also_sent_text;
    if (also !== undefined) print(cut(`  also sent: ${seen(also)}`, width));
  }
  const more = total - found.length;
  if (more > 0) say(`${more} more ${all ? "are kept" : "wait"}: ${HOW_TO_SEE_MORE}`);
}

const HOW_TO_SEE_MORE =
  "--user NAME or --principal ID shows those of one caller; approve and deny find each by how its id begins";

function inputText({ arguments_text, long_input }: JsonObject): string {
  if (long_input === undefined) return seen(arguments_text);
  const { beginning, characters } = objectOf(long_input);
  return `(${Number(characters)} characters, all of which "approve" shows) ${seen(beginning)}`;
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
    throw new Ending("usage", [`say which call: an id that "${PROGRAM} approvals" shows, or --latest`]);
  }
  if (id !== undefined && isLink(id) && !options.print)
    throw new Ending("usage", ["a link needs --print: what it prints goes to its page"]);
  const key = chosenKey(options);
  if (id === undefined || !isLink(id)) await refuseElsewhere(options);
  const approval = id !== undefined && isLink(id) ? await linkedApproval(id) : await find(id, options);
  for (const line of callLines(approval)) (options.print || options.json ? say : print)(line);
  if (!options.yes && terminal) await makeSure(`${decision} it?`, terminal, "nothing was decided");
  if (options.print && key) return printProof(signProof(key, approval, decision), options);
  const isKeyChosen = options.key !== undefined;
  const decided = await decideCall({ api: new GatewayApi(options), approval, decision, key, isKeyChosen });
  // What MCP-AX answers has no word of the caller: then as it was when the call was shown.
  const { status, caller_connection = approval.caller_connection } = decided;
  if (options.json) return printJson({ status, confirmation_id: approval.confirmation_id, caller_connection });
  print();
  print(decidedOutcome(textOf(status) ?? "", textOf(caller_connection)));
}

/** Undefined: there is none, and nobody wants one. Throws Ending. */
function chosenKey({ key, print: isPrinted }: DecideOptions): OperatorKey | undefined {
  const file = key ?? defaultKeyFile();
  return key !== undefined || isPrinted || existsSync(file) ? readOperatorKey(file) : undefined;
}

function printProof(proof: string, { json }: DecideOptions): void {
  if (json) printJson({ type: "operator_signature", format: "jws", value: proof });
  else print(proof);
}

const WHOLE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function find(id: string | undefined, options: DecideOptions): Promise<JsonObject> {
  const api = new GatewayApi(options);
  const found = id !== undefined && WHOLE_ID.test(id) ? await api.approval(id) : await choose(api, id);
  if (found?.state !== "waiting") {
    const over = found ?? (await oneThatIsOver(api, id));
    if (over) throw new Ending("failure", [overText(over)]);
    const about = id === undefined ? "no call" : `no call ${JSON.stringify(id)}`;
    throw new Ending("failure", [`${about} waits for an approval; "${PROGRAM} approvals" lists those that do`]);
  }
  refuseOtherText(found, "do not trust this gateway, or update it");
  return found;
}

/** The one that begins so and waits no more, if there is one. */
async function oneThatIsOver(api: GatewayApi, id: string | undefined): Promise<JsonObject | undefined> {
  if (id === undefined || !BEGINNING.test(id)) return undefined;
  const { found } = await api.approvals({ id, limit: String(MAX_ALIKE) });
  return found.length === 1 ? found[0] : undefined;
}

/** Nothing is to be decided about it any more: why. */
function overText(one: JsonObject): string {
  const [what, by] = [`the call ${shortId(one)} (${seen(one.tool)})`, seen(one.decided_by)];
  switch (one.state) {
    case "approved":
      return `${what} was approved by ${by}: it is made when its caller makes it again, until ${seen(one.expires_at)}`;
    case "consumed":
      return `${what} was approved by ${by}, and made`;
    case "denied":
      return `${what} was denied by ${by}: nobody is asked about it again before ${seen(one.expires_at)}`;
    case "expired":
      return `${what} expired at ${seen(one.expires_at)}: its caller asks again by making it again`;
    default:
      return `${what} was withdrawn by ${by}: its caller asks again by making it again`;
  }
}

/** Of an id, as much as tells it from others. */
const BEGINNING = /^[0-9a-f-]{1,36}$/;
const MAX_ALIKE = 10;

/** The newest one, or the one whose id begins so, however many others wait. */
async function choose(api: GatewayApi, id: string | undefined): Promise<JsonObject | undefined> {
  if (id === undefined) return await whole(api, (await api.approvals({ state: "waiting", limit: "1" })).found[0]);
  if (!BEGINNING.test(id)) return undefined;
  const { found } = await api.approvals({ state: "waiting", id, limit: String(MAX_ALIKE) });
  if (found.length > 1)
    throw new Ending("usage", [
      `several ids begin with ${JSON.stringify(id)}; write more of it:`,
      ...found.map(alikeLine),
    ]);
  return await whole(api, found[0]);
}

function alikeLine(one: JsonObject): string {
  return `${seen(one.confirmation_id)}  ${seen(one.tool)}  ${callerOf(one)}`;
}

/** Of one that is long a list has the beginning only. */
async function whole(api: GatewayApi, listed: JsonObject | undefined): Promise<JsonObject | undefined> {
  if (listed?.long_input === undefined) return listed;
  return await api.approval(textOf(listed.confirmation_id) ?? "");
}

function shortId({ confirmation_id }: JsonObject): string {
  return seen(confirmation_id).slice(0, 8);
}
