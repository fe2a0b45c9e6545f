/** Requests to a token endpoint, whatever the grant. */
import * as z from "zod";
import { EgressFault } from "../../egress/index.ts";
import { clientProof, type OAuthClient } from "./client-auth.ts";
import type { Reading } from "./documents.ts";
import { OAuthFault } from "./oauth-fault.ts";

/** What an issuer gave. `expiresIn`: seconds. */
export type Tokens = {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly expiresIn?: number;
  readonly scope?: string;
};

export type TokenEndpoint = { readonly url: string; readonly issuer: string; readonly client: OAuthClient };

/** Made when it is needed: a gateway that starts asks for none. */
function tokensType() {
  return z.looseObject({
    // What can stand in a header, and nothing else.
    access_token: z.string().regex(/^[\x21-\x7e]{1,16384}$/),
    token_type: z.string(),
    expires_in: z.coerce.number().positive().optional(),
    refresh_token: z.string().max(16_384).optional(),
    scope: z.string().optional(),
  });
}

/** Rejects with OAuthFault. Parameters that are undefined are left out. */
export async function requestTokens(
  endpoint: TokenEndpoint,
  parameters: Readonly<Record<string, string | undefined>>,
  reading: Reading,
): Promise<Tokens> {
  const proof = clientProof(endpoint.client, endpoint.issuer);
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...parameters, ...proof.parameters })) {
    if (value !== undefined) form.set(name, value);
  }
  const headers = { "Content-Type": "application/x-www-form-urlencoded", ...proof.headers };
  const answer = await post({ url: endpoint.url, body: form.toString(), headers }, "token", reading);
  const parsed = tokensType().safeParse(answer);
  if (!parsed.success) throw new OAuthFault("The authorization server's token answer cannot be read.");
  const { access_token, token_type, expires_in, refresh_token, scope } = parsed.data;
  if (token_type.toLowerCase() !== "bearer")
    throw new OAuthFault("The authorization server gave a token of a kind that we cannot use.");
  return {
    accessToken: access_token,
    ...(expires_in !== undefined && { expiresIn: expires_in }),
    ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    ...(scope !== undefined && { scope }),
  };
}

type Post = { readonly url: string; readonly body: string; readonly headers: Record<string, string> };

/** The body of a successful answer. Rejects with OAuthFault. */
export async function post(request: Post, what: string, { egress, trust }: Reading): Promise<unknown> {
  const { status, body } = await egress.fetch(request, trust).catch((cause: unknown) => {
    if (cause instanceof EgressFault) throw new OAuthFault(cause.message, { cause });
    throw cause;
  });
  const answer = parsed(body);
  if (status >= 200 && status < 300) return answer;
  const { error } = Object(answer) as { error?: unknown };
  const code = typeof error === "string" && /^[\w.-]{1,64}$/.test(error) ? error : undefined;
  const why = code === undefined ? `HTTP ${status}` : code;
  throw new OAuthFault(`The authorization server refused a ${what} request (${why}).`, {
    ...(code !== undefined && { code }),
  });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
