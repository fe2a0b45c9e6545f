/** server/discover: the gateway speaks of itself, from what the catalog holds. No server is asked. */
import { jsonText, payload, type View } from "../../../contract/index.ts";
import { answerText } from "../../../wire/jsonrpc/index.ts";
import { TASKS_EXTENSION } from "../../../wire/mcp/2026-07-28/index.ts";
import { answerMgp, type MgpExtension } from "../../../wire/mgp/index.ts";
import { canMakeTasks, capabilitiesText, instructionsOf } from "../capabilities.ts";
import type { FrontContext } from "../front-context.ts";
import { withAllLists } from "../peers.ts";
import type { ModernExchange } from "./exchange.ts";
import { SUPPORTED_VERSIONS } from "./modern-errors.ts";
import { ownResult } from "./results.ts";

// Views never change, so what is said about one is said once.
const ABOUT = new WeakMap<View, string>();

/** What of MGP works without a session: events of the trail have nowhere to go. */
const SESSIONLESS: readonly MgpExtension[] = ["access_control"];

/** Waits, for a bounded time, until what everybody sees is there. */
export async function discover(front: FrontContext, exchange: ModernExchange, isPeer: boolean): Promise<void> {
  const { catalog, principal, message, outlet, profile } = exchange;
  if (!front.readyCatalogs.has(catalog)) {
    await front.catalog.enter(catalog);
    front.readyCatalogs.add(catalog);
  }
  const view = front.catalog.view(catalog, principal);
  const about = payload(isPeer ? peerText(front, view) : aboutText(front, view));
  const offered = front.mgp?.offered().filter((extension) => SESSIONLESS.includes(extension)) ?? [];
  const capabilities = payload(about.at(["capabilities"]) ?? "{}");
  const told = answerMgp(capabilities, profile, offered);
  const answer = told === capabilities ? about : about.splice(["capabilities"], told.text);
  outlet.answer(answerText(message.id, "result", answer));
}

function aboutText(front: FrontContext, view: View): string {
  const known = ABOUT.get(view);
  if (known !== undefined) return known;
  const instructions = instructionsOf(view);
  const about =
    `{"supportedVersions":${jsonText(SUPPORTED_VERSIONS)},"capabilities":${servedCapabilities(view)}` +
    `${instructions === undefined ? "" : `,"instructions":${jsonText(instructions)}`}}`;
  const text = ownResult(front, payload(about), "cached").text;
  ABOUT.set(view, text);
  return text;
}

/** Calls of any tool may be answered with tasks: for which ones they are, each process knows from the lists. */
function peerText(front: FrontContext, view: View): string {
  const declared = payload(capabilitiesText(view)).splice(["tasks"]).splice(["extensions", TASKS_EXTENSION], "{}");
  const versions = jsonText(SUPPORTED_VERSIONS);
  const about = `{"supportedVersions":${versions},"capabilities":${withAllLists(declared).text}}`;
  return ownResult(front, payload(about), "cached").text;
}

/** What the servers declare, with tasks in the words of this era. */
function servedCapabilities(view: View): string {
  const others = payload(capabilitiesText(view)).splice(["tasks"]);
  if (canMakeTasks(view)) return others.splice(["extensions", TASKS_EXTENSION], "{}").text;
  const served = others.splice(["extensions", TASKS_EXTENSION]);
  return served.at(["extensions"]) === "{}" ? served.splice(["extensions"]).text : served.text;
}
