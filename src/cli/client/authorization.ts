import { ownToken } from "../../server/config/index.ts";
import { Ending } from "../ending.ts";

/** The header that says who we are, where we were told. Throws Ending where what we were told cannot be a token. */
export function authorizationHeader(): { Authorization?: string } {
  const token = ownToken();
  if (token === undefined) return {};
  if (/^Bearer\b/i.test(token))
    throw new Ending("refused", ['ISTHMUS_TOKEN holds "Bearer" before the token: write the token alone']);
  if (/[^\x21-\x7e]/.test(token)) {
    throw new Ending("refused", [
      "ISTHMUS_TOKEN holds a character that no token has (a space, a quote or a line break from where it was copied?)",
    ]);
  }
  return { Authorization: `Bearer ${token}` };
}
