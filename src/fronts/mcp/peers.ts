/**
 * What other processes of ours are shown of a server whose shared instance runs here. It must look there as it looks here, so nothing
 * is brought into the words of one era, and what the server declares goes with each list: it may change while they listen.
 */
import { HOME_FACTS_KEY, jsonText, type Payload, spliceText, type View } from "../../contract/index.ts";

/** The text of a result with what is known of the only server of the view. */
export function withHome({ providers: [facts] }: View, result: string): string {
  if (!facts) return result;
  const { status, message, about } = facts;
  const members = [`"status":${jsonText(status)}`];
  if (message !== undefined) members.push(`"message":${jsonText(message)}`);
  if (about?.protocol !== undefined) members.push(`"protocol":${jsonText(about.protocol)}`);
  if (about) members.push(`"capabilities":${about.capabilities.text}`);
  if (about?.instructions !== undefined) members.push(`"instructions":${jsonText(about.instructions)}`);
  return spliceText(result, ["_meta", HOME_FACTS_KEY], `{${members.join(",")}}`);
}

/**
 * What a home declares: all that it can do for any server. It does not change while another process listens, whatever becomes of
 * the server.
 */
export function withAllLists(capabilities: Payload): Payload {
  let all = capabilities;
  for (const path of ["tools", "resources", "prompts"]) all = all.splice([path, "listChanged"], "true");
  return all.splice(["resources", "subscribe"], "true");
}
