/** Why somebody may or may not call something: asked of the gateway that runs, else worked out from the config and its stores. */

import { DEFAULT_TENANT, evidenceText, GatewayError, LOCAL, reasonText } from "../../contract/index.ts";
import { createGateway } from "../../server/gateway.ts";
import { createLog } from "../../server/log.ts";
import { openState, StateFault } from "../../server/state/index.ts";
import { type ConnectFlags, configuredUrl } from "../client/gateway-url.ts";
import { isGateway, type OperationOrder, operate } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { readTokenName } from "../operator/token-name.ts";
import { print, printJson, say, sayText, tableWidth } from "../output/console.ts";
import { plainLine } from "../output/plain.ts";
import { tableLines } from "../output/table.ts";
import { readGatewayPlace, readOwnConfig, sayProblems } from "../own-config.ts";
import { PROGRAM } from "../program-name.ts";

export type ExplainOptions = ConnectFlags & {
  readonly tenant?: string;
  readonly client?: string;
  readonly group?: readonly string[];
  readonly scope?: readonly string[];
  readonly server?: string;
  readonly args?: string;
  readonly json?: boolean;
};

export async function explain(principal: string, tool: string, options: ExplainOptions): Promise<void> {
  const { user, tenant } = callerOf(principal, options);
  const body = {
    tenant,
    user,
    ...(options.client !== undefined && { client: options.client }),
    groups: options.group ?? [],
    scopes: options.scope ?? [],
    ...(principal === LOCAL.id && { client: LOCAL.id, scopes: ["*"], isLocal: true }),
    ...(options.server !== undefined && { server: options.server }),
    primitive: tool,
    ...(options.args !== undefined && { arguments: readArguments(options.args) }),
  };
  const order = {
    id: "access.explain",
    method: "POST",
    path: "/api/access/explain",
    role: "viewer",
    input: { body },
  } as const;
  const decision = objectOf(await ask(order, options));
  if (options.json) return printJson(decision);
  for (const line of describe(decision, principal, options.args !== undefined)) print(line);
  const remedy = hasDottedNames(options) ? remedyFor(decision, { user, tenant }) : [];
  for (const line of [...remarksOn(decision, user), ...remedy].flatMap((remark) => ["", remark])) print(line);
}

type Caller = { readonly user: string; readonly tenant: string };

/** By the name in grants, or as `status`, the log and the trail name who has a token. */
function callerOf(principal: string, { tenant }: ExplainOptions): Caller {
  const named = readTokenName(principal);
  return { user: named?.user ?? principal, tenant: tenant ?? named?.tenant ?? DEFAULT_TENANT };
}

function remarksOn({ isOffered, knowsCallers, primitive }: JsonObject, user: string): string[] {
  const lines: string[] = [];
  if (isOffered === false) lines.push(`There is no ${plainLine(textOf(primitive) ?? "")} now.`);
  if (knowsCallers === false && user !== LOCAL.id) {
    lines.push(
      `Callers are not asked who they are here: each of them is ${LOCAL.id}, and nobody is ${plainLine(user)}.`,
    );
  }
  return lines;
}

/** Whether `grant` takes a name as decisions spell it. */
function hasDottedNames({ url, config }: ConnectFlags): boolean {
  return url !== undefined || readGatewayPlace(config === undefined ? {} : { config }).gateway.naming === "dotted";
}

/** Only where nothing has spoken: against a denial a grant does not always help. */
function remedyFor(
  { effect, steps, knowsCallers, isOffered, primitive }: JsonObject,
  { user, tenant }: Caller,
): string[] {
  const last = objectsIn(steps).at(-1);
  const lacksGrant = effect === "deny" && last?.step === "default_policy" && last.effect === "deny";
  if (!lacksGrant || knowsCallers === false || isOffered === false || tenant !== DEFAULT_TENANT) return [];
  const words = [user, textOf(primitive) ?? ""].map(plainLine);
  // Whatever else would have to be quoted for a shell.
  if (!words.every((word) => /^[\w.@-]+$/.test(word))) return [];
  return [`To let ${words[0]} use it: ${PROGRAM} grant ${words.join(" ")}`];
}

function readArguments(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {}
  throw new Ending("usage", ['--args: expected a JSON object such as {"path":"/tmp"}']);
}

async function ask(order: OperationOrder, { url, config: file }: ConnectFlags): Promise<unknown> {
  if (url !== undefined) return operate(order, { url });
  const flags = file === undefined ? {} : { config: file };
  const place = readGatewayPlace(flags);
  const running = configuredUrl(place);
  if (running && (await isGateway(running))) {
    sayProblems(place, running);
    return operate(order, { url: running.href });
  }
  const { config, env } = readOwnConfig(flags);
  const log = createLog({ level: "error", format: "pretty", write: sayText });
  const state = await openState(config.state, log).catch((error: unknown) => {
    if (!(error instanceof StateFault)) throw error;
    say(`what operators have set is left out: ${error.message}`);
    return undefined;
  });
  const gateway = createGateway(config, { log, env, state });
  try {
    return await gateway.operate(order.id, order.input);
  } catch (error) {
    if (!GatewayError.is(error)) throw error;
    throw new Ending("failure", [error.message]);
  } finally {
    await gateway.close();
  }
}

const EFFECTS: Readonly<Record<string, string>> = {
  allow: "may call",
  deny: "may not call",
  confirm: "may call, once somebody has said yes,",
};

function describe(decision: JsonObject, principal: string, hasArguments: boolean): string[] {
  const { effect, reason, primitive, evidence, isConditional, steps } = decision;
  const gate = decision.gate === undefined ? undefined : objectOf(decision.gate);
  const said = (value: unknown) => plainLine(textOf(value) ?? "");
  const rows = objectsIn(steps).map((step) => [said(step.step), said(step.effect) || "-", said(step.reason)]);
  const lines = [
    `${plainLine(principal)} ${EFFECTS[gate ? "confirm" : said(effect)] ?? said(effect)} ${said(primitive)}: ${said(reason)}`,
    "",
    ...tableLines(rows, { width: tableWidth() }),
  ];
  if (said(evidence) !== "") lines.push("", `A rule wants a yes: ${evidenceText(said(evidence), false)}.`);
  if (gate) {
    lines.push("", `Each call waits for a yes: ${reasonText(said(gate.reason))}.`);
    lines.push(`It needs ${evidenceText(said(gate.evidence), false)}.`);
  }
  if (isConditional === true && !hasArguments) {
    lines.push("", "Some rules look at the arguments and were not asked; give a call's with --args.");
  }
  return lines;
}
