/** What both major versions of the client do alike. */
import { type Peer, TIMEOUT_MS } from "./peer.ts";
import type { ClientPeer } from "./sdk.ts";

type Alike = Pick<
  Peer,
  "listTools" | "listResources" | "listResourceTemplates" | "readResource" | "listPrompts" | "getPrompt" | "complete"
>;

export const options = { timeout: TIMEOUT_MS };

export function alike(client: ClientPeer): Alike {
  return {
    listTools: async () => (await client.listTools(undefined, options)).tools.map(({ name }) => name),
    listResources: async () => (await client.listResources(undefined, options)).resources.map(({ uri }) => uri),
    listResourceTemplates: async () =>
      (await client.listResourceTemplates(undefined, options)).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    readResource: (uri) => client.readResource({ uri }, options),
    listPrompts: async () => (await client.listPrompts(undefined, options)).prompts.map(({ name }) => name),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }, options),
    complete: async (prompt, name, value) => {
      const params = { ref: { type: "ref/prompt", name: prompt }, argument: { name, value } };
      return (await client.complete(params, options)).completion.values;
    },
  };
}

/** `resources/subscribe`, as before 2026-07-28. */
export async function subscribe2025(client: ClientPeer, uri: string): Promise<() => Promise<void>> {
  await client.subscribeResource({ uri }, options);
  return async () => void (await client.unsubscribeResource({ uri }, options));
}
