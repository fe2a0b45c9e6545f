/** What a server of 2026-07-28 is asked to tell us outside calls. */
import { jsonText, type Payload } from "../../../contract/index.ts";

/** The first message on a request that listens. */
export const ACKNOWLEDGED = "notifications/subscriptions/acknowledged";

/** The lists of which a server can say that they have changed, and what that is called in the request. */
const LISTS = { tools: "toolsListChanged", prompts: "promptsListChanged", resources: "resourcesListChanged" } as const;

/** As JSON text; "{}" where the server has nothing to tell. */
export function listenFilter(capabilities: Payload, uris: readonly string[]): string {
  const isDeclared = (path: readonly string[]) => capabilities.at(path) === "true";
  const wanted: Record<string, unknown> = {};
  for (const [list, name] of Object.entries(LISTS)) if (isDeclared([list, "listChanged"])) wanted[name] = true;
  if (uris.length > 0 && isDeclared(["resources", "subscribe"])) wanted.resourceSubscriptions = uris;
  return jsonText(wanted);
}
