/**
 * Who is signed in at the pages. A browser that has shown a token keeps it for a while, sealed for this very browser; with each
 * request it is looked at again, so that it is worth nothing any more as soon as the token is.
 */
import {
  GatewayError,
  type HttpRequest,
  headerLine,
  identityOf,
  type Keys,
  type Principal,
} from "../../contract/index.ts";

export type SignInOptions = {
  readonly keys: Keys;
  /** Whose token this is. Rejects with NOT_AUTHENTICATED, NOT_ALLOWED or STATE_UNAVAILABLE. */
  readonly authenticate: (request: HttpRequest, token: string) => Promise<Principal>;
  /** Everybody's clock, in ms. */
  readonly now: () => number;
};

/** `url`: where browsers reach us. `browser`: what only this one knows. */
export type Browser = { readonly url: string; readonly browser: string };

const NAME = "isthmus_operator";
const PATH = "/approvals/";
const SECONDS = 15 * 60;
/** Browsers keep no longer cookies. */
const MAX_COOKIE = 3_800;
const PURPOSE = "approval sign-in";
const FOUND = new RegExp(`(?:^|;\\s*)${NAME}=([\\w.-]{1,${MAX_COOKIE}})(?:;|$)`);

export class SignIn {
  readonly #options: SignInOptions;

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  /** Whoever has proved with the request itself who they are, else whoever is signed in. Rejects with STATE_UNAVAILABLE. */
  async visitor(request: HttpRequest, browser: string | undefined): Promise<Principal> {
    if (isProved(request.principal)) return request.principal;
    const token = browser === undefined ? undefined : this.#tokenIn(request, browser);
    if (token === undefined) return request.principal;
    try {
      return await this.#options.authenticate(request, token);
    } catch (error) {
      if (isRefusal(error)) return request.principal;
      throw error;
    }
  }

  /** The line that makes a browser remember it; undefined: nobody is known by this token. Rejects with STATE_UNAVAILABLE. */
  async lineFor(request: HttpRequest, token: string, { url, browser }: Browser): Promise<string | undefined> {
    const { keys, authenticate, now } = this.#options;
    try {
      await authenticate(request, token);
    } catch (error) {
      if (isRefusal(error)) return undefined;
      throw error;
    }
    const sealed = keys.seal(PURPOSE, browser, JSON.stringify({ token, until: now() + SECONDS * 1_000 }));
    return sealed.length > MAX_COOKIE ? undefined : setCookie(url, sealed, SECONDS);
  }

  /** The line that makes a browser forget it. */
  leave({ url }: Pick<Browser, "url">): string {
    return setCookie(url, "", 0);
  }

  #tokenIn({ headers }: HttpRequest, browser: string): string | undefined {
    const [, sealed] = FOUND.exec(headers.cookie ?? "") ?? [];
    const text = sealed === undefined ? undefined : this.#options.keys.open(PURPOSE, browser, sealed);
    if (text === undefined) return undefined;
    const { token, until } = JSON.parse(text) as { token: string; until: number };
    return this.#options.now() < until ? token : undefined;
  }
}

export function isProved(principal: Principal): boolean {
  const { proof } = identityOf(principal);
  return proof !== "none" && proof !== "local";
}

function isRefusal(error: unknown): boolean {
  return GatewayError.is(error) && (error.code === "NOT_AUTHENTICATED" || error.code === "NOT_ALLOWED");
}

/** Sent with nothing that comes from another site, not even with its links. */
function setCookie(url: string, value: string, seconds: number): string {
  const secure = url.startsWith("https:") ? "; Secure" : "";
  return headerLine(
    "Set-Cookie",
    `${NAME}=${value}; Path=${PATH}; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`,
  );
}
