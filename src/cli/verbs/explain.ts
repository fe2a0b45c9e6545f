/** Why somebody may or may not call something: asked of the gateway that runs, else worked out from the config and its stores. */
import { DEFAULT_TENANT, GatewayError, LOCAL } from "../../contract/index.ts";
import { createGateway } from "../../server/gateway.ts";
import { createLog } from "../../server/log.ts";
import { openState, StateFault } from "../../server/state/index.ts";
import { NoAnswer } from "../client/channel.ts";
import type { ConnectFlags } from "../client/connect.ts";
import { configuredUrl } from "../client/gateway-url.ts";
import { httpGet } from "../client/http-get.ts";
import { type OperationOrder, operate } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { outputWidth, print, printJson, say } from "../output/console.ts";
import { plainLine } from "../output/plain.ts";
import { tableLines } from "../output/table.ts";
import { readOwnConfig } from "../own-config.ts";

export type ExplainOptions = ConnectFlags & {
  readonly tenant?: string;
  readonly client?: string;
  readonly group?: readonly string[];
  readonly scope?: readonly string[];
  readonly server?: string;
  readonly args?: string;
  readonly json?: boolean;
};

const PROBE_MS = 2_000;

export async function explain(principal: string, tool: string, options: ExplainOptions): Promise<void> {
  const body = {
    tenant: options.tenant ?? DEFAULT_TENANT,
    user: principal,
    ...(options.client !== undefined && { client: options.client }),
    groups: options.group ?? [],
    scopes: options.scope ?? [],
    ...(principal === LOCAL.id && { client: LOCAL.id, scopes: ["*"], isLocal: true }),
    ...(options.server !== undefined && { server: options.server }),
    primitive: tool,
    ...(options.args !== undefined && { arguments: readArguments(options.args) }),
  };
  const order = { id: "access.explain", method: "POST", path: "/api/access/explain", input: { body } };
  const decision = objectOf(await ask(order, options));
  if (options.json) return printJson(decision);
  for (const line of describe(decision, principal, options.args !== undefined)) print(line);
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
  const { config, env } = readOwnConfig(file === undefined ? {} : { config: file });
  const running = configuredUrl(config);
  if (running && (await answers(running))) return operate(order, { url: running.href });
  const log = createLog({ level: "error", format: "pretty", write: (text) => process.stderr.write(text) });
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

async function answers(gateway: URL): Promise<boolean> {
  try {
    return (await httpGet(new URL("/healthz", gateway), PROBE_MS)).status === 200;
  } catch (error) {
    if (error instanceof NoAnswer) return false;
    throw error;
  }
}

const EFFECTS: Readonly<Record<string, string>> = {
  allow: "may call",
  deny: "may not call",
  confirm: "may call, once somebody has said yes,",
};

function describe(decision: JsonObject, principal: string, hasArguments: boolean): string[] {
  const { effect, reason, primitive, evidence, isConditional, steps } = decision;
  const said = (value: unknown) => plainLine(textOf(value) ?? "");
  const rows = objectsIn(steps).map((step) => [said(step.step), said(step.effect) || "-", said(step.reason)]);
  const lines = [
    `${plainLine(principal)} ${EFFECTS[said(effect)] ?? said(effect)} ${said(primitive)}: ${said(reason)}`,
    "",
    ...tableLines(rows, { width: outputWidth() }),
  ];
  if (said(evidence) !== "") lines.push("", `The yes must come from: ${said(evidence)}.`);
  if (isConditional === true && !hasArguments) {
    lines.push("", "Some rules look at the arguments and were not asked; give a call's with --args.");
  }
  return lines;
}
