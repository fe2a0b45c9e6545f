/** How `status`, the log and the trail name whoever has a token, such as `token:default/ada/1d2f`; grants name the user. */

export type TokenName = { readonly tenant: string; readonly user: string };

/** Undefined: it is no such name. */
export function readTokenName(name: string): TokenName | undefined {
  const [, tenant, user] = /^token:([^/]+)\/(.+)\/\w+$/.exec(name) ?? [];
  return tenant === undefined || user === undefined ? undefined : { tenant, user };
}
