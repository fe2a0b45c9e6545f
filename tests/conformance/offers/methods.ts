/** The requests that both revisions have and answer alike, from the same offers. */
import type { Json } from "../sdk.ts";
import { askingTools } from "./asking-tools.ts";
import { type Call, rpcError } from "./call.ts";
import { changingTools } from "./changing-lists.ts";
import { contentTools } from "./content-tools.ts";
import { headerTool } from "./header-tool.ts";
import { inputRequiredTools } from "./input-required-tools.ts";
import { complete, getPrompt, listPrompts } from "./prompts.ts";
import { listResources, listTemplates, readResource } from "./resources.ts";
import { schemaTool } from "./schema-tool.ts";
import { taskTools } from "./task-tools.ts";
import { timedTools } from "./timed-tools.ts";
import type { Tool } from "./tool.ts";

export type Method = (call: Call) => Json | Promise<Json>;

export const methods: Readonly<Record<string, Method>> = {
  "tools/list": () => ({ tools: tools().map(({ run: _, taskSupport: __, ...listed }) => listed) }),
  "prompts/list": listPrompts,
  "prompts/get": getPrompt,
  "completion/complete": complete,
  "resources/list": listResources,
  "resources/templates/list": listTemplates,
  "resources/read": readResource,
};

/** The tools of the moment. */
export function tools(): Tool[] {
  return [
    ...contentTools,
    ...timedTools,
    ...askingTools,
    ...inputRequiredTools,
    schemaTool,
    headerTool,
    ...taskTools,
    ...changingTools(),
  ];
}

/** The tool that a call names; throws when there is none. */
export function findTool({ params }: Call): Tool {
  const tool = tools().find(({ name }) => name === params.name);
  if (tool === undefined) throw rpcError(-32602, `Unknown tool: ${params.name}`);
  return tool;
}
