/**
 * Requests to an issuer: worded and read by `oauth4webapi`, sent by our own egress, which alone decides where they may go. Why,
 * and what of it stays ours: docs/decisions/0009-oauth-client-by-oauth4webapi.md.
 */
import type { CustomFetchOptions } from "oauth4webapi";
import { type EgressAnswer, EgressFault } from "../../egress/index.ts";
import type { Reading } from "./documents.ts";
import { plainWords } from "./issuer-words.ts";
import { OAuthFault } from "./oauth-fault.ts";

export type OAuthLibrary = typeof import("oauth4webapi");

type Options = ReturnType<typeof optionsFor>;

export type IssuerRequest<Answer> = {
  /** As people are told what was refused. */
  readonly what: "token" | "register" | "revocation";
  /** The one status that the library takes for success. */
  readonly success: 200 | 201;
  run(oauth: OAuthLibrary, options: Options): Promise<Answer>;
};

/** Loaded with the first request: most starts make none. */
export const loadOAuth = (): Promise<OAuthLibrary> => import("oauth4webapi");

/** Rejects with OAuthFault. */
export async function askIssuer<Answer>(request: IssuerRequest<Answer>, reading: Reading): Promise<Answer> {
  const oauth = await loadOAuth();
  const sent: Sent = { confided: [], status: 0 };
  try {
    return await request.run(oauth, optionsFor(oauth, request.success, reading, sent));
  } catch (error) {
    throw error instanceof OAuthFault ? error : faultOf(error, oauth, request.what, sent);
  }
}

/** What is known of a request when it has failed. */
type Sent = { confided: readonly string[]; status: number };

function optionsFor(oauth: OAuthLibrary, success: number, { egress, trust }: Reading, sent: Sent) {
  const send = async (url: string, { body, headers }: CustomFetchOptions<"POST", URLSearchParams | string>) => {
    sent.confided = confidedIn(body, headers.authorization);
    const request = { url, body: body.toString(), headers: headersOf(body, headers.authorization) };
    const answer = await egress.fetch(request, trust).catch((cause: unknown) => {
      throw cause instanceof EgressFault ? new OAuthFault(cause.message, { cause }) : cause;
    });
    sent.status = answer.status;
    return conform(answer, success);
  };
  return {
    [oauth.customFetch]: send,
    // Whether a request may go out without TLS is for the egress to say: to this machine, or where an operator wrote it so.
    [oauth.allowInsecureRequests]: true,
  };
}

function headersOf(body: URLSearchParams | string, authorization: string | undefined): Record<string, string> {
  const type = typeof body === "string" ? "application/json" : "application/x-www-form-urlencoded";
  return { "Content-Type": type, ...(authorization !== undefined && { Authorization: authorization }) };
}

const CONFIDED = [
  "client_secret",
  "client_assertion",
  "code",
  "code_verifier",
  "refresh_token",
  "subject_token",
  "token",
];

function confidedIn(body: URLSearchParams | string, authorization = ""): readonly string[] {
  const [, credentials = ""] = authorization.split(" ");
  const [, secret = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials, "base64").toString()) ?? [];
  const inForm = typeof body === "string" ? [] : CONFIDED.map((name) => body.get(name) ?? "");
  const all = [...inForm, credentials, secret, new URLSearchParams(`x=${secret}`).get("x") ?? ""];
  return all.filter((text) => text !== "");
}

/**
 * As the library wants it, where real issuers differ without harm: any 2xx is success, an error in JSON is a refusal whatever its
 * status, and null is not there. What we do not use is left out, so that nothing about it can be wrong: an ID token, a challenge.
 */
function conform({ status, body }: EgressAnswer, success: number): Response {
  const isGood = status >= 200 && status < 300;
  const members = membersOf(body);
  const known = isGood ? success : members && "error" in members ? 400 : 502;
  const text = members ? JSON.stringify(members) : isGood ? "{}" : "";
  return new Response(text, { status: known, headers: { "content-type": "application/json" } });
}

function membersOf(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const said = Object.entries(value).filter(([name, member]) => member !== null && name !== "id_token");
    const members = Object.fromEntries(said);
    // RFC 7591 wants it beside a secret; those that leave it out mean that the secret does not end.
    return "client_secret" in members ? { client_secret_expires_at: 0, ...members } : members;
  } catch {
    return undefined;
  }
}

const CODE = /^[\w.-]{1,64}$/;

function faultOf(error: unknown, oauth: OAuthLibrary, what: string, { confided, status }: Sent): OAuthFault {
  if (error instanceof oauth.ResponseBodyError)
    return refusedBy(`refused a ${what} request`, error.error, error.error_description, {
      confided,
      status,
      cause: error,
    });
  const isRefusal = status !== 0 && (status < 200 || status > 299);
  const message = isRefusal
    ? `The authorization server refused a ${what} request (HTTP ${status}).`
    : `The authorization server's ${what} answer cannot be read.`;
  return new OAuthFault(message, { cause: error });
}

type Refused = { readonly confided?: readonly string[]; readonly status?: number; readonly cause?: unknown };

/** A fault in the issuer's own words. */
export function refusedBy(did: string, error: unknown, description: unknown, about: Refused = {}): OAuthFault {
  const { confided = [], status, cause } = about;
  const code = typeof error === "string" && CODE.test(error) ? error : undefined;
  const words = plainWords(description, confided);
  const why = code ?? (status === undefined ? "no code" : `HTTP ${status}`);
  return new OAuthFault(`The authorization server ${did} (${words === "" ? why : `${why}: ${words}`}).`, {
    ...(code !== undefined && { code }),
    cause,
  });
}
