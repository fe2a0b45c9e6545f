/** The one tool of a server that nobody has allowed us to use yet: whoever calls it is told where to say yes. */
import {
  type GatewayError,
  jsonText,
  type Offer,
  type Payload,
  type ProviderState,
  payload,
} from "../../contract/index.ts";

export const SIGN_IN_TOOL = "sign_in";

const DEFINITION = {
  name: SIGN_IN_TOOL,
  title: "Sign in",
  description:
    "This server must be allowed before it can be used. Call this tool to get the link at which its user signs in; the server's own tools are listed afterwards.",
  inputSchema: { type: "object", properties: {} },
  annotations: { readOnlyHint: true },
};

export const SIGN_IN_OFFER: Offer = {
  kind: "tool",
  primitives: [{ kind: "tool", name: SIGN_IN_TOOL, definition: payload(jsonText(DEFINITION)), repeatable: true }],
  extras: "",
};

export const SIGN_IN_ABOUT: NonNullable<ProviderState["about"]> = {
  capabilities: payload(jsonText({ tools: { listChanged: true } })),
};

/** What the tool says when everything is as it should be. */
export function signedIn(server: string): Payload {
  const text = `${server} can be used now. List its tools again.`;
  return payload(jsonText({ content: [{ type: "text", text }] }));
}

/** What everybody may read about it: links that are made for one caller are not among it. */
export function signInMessage(error: GatewayError | undefined): string {
  if (error && error.code !== "CONSENT_REQUIRED") return error.message;
  const { page } = error?.details ?? {};
  if (typeof page === "string") return `It must be allowed first: open ${page}`;
  return `Each of its users must allow it first; the tool ${SIGN_IN_TOOL} says how.`;
}
