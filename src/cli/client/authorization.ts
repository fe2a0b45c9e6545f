import { ownToken } from "../../server/config/index.ts";

/** The header that says who we are, where we were told. */
export function authorizationHeader(): { Authorization?: string } {
  const token = ownToken();
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}
