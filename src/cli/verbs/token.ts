import { operate } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { outputWidth, print, printJson, say } from "../output/console.ts";
import { tableLines } from "../output/table.ts";

export type TokenOptions = {
  readonly user?: string;
  readonly tenant?: string;
  readonly group?: readonly string[];
  readonly scope?: readonly string[];
  readonly role?: string;
  readonly expires?: string;
  readonly client?: string;
  readonly url?: string;
  readonly config?: string;
  readonly json?: boolean;
};

/** Makes, lists and revokes the tokens that a gateway gives out itself. */
export async function token(
  action: "create" | "list" | "revoke",
  id: string | undefined,
  options: TokenOptions,
): Promise<void> {
  switch (action) {
    case "create":
      return await create(options);
    case "list":
      return await list(options);
    case "revoke":
      return await revoke(id, options);
  }
}

async function create(options: TokenOptions): Promise<void> {
  const { user, tenant, client, role, expires, group: groups = [], scope: scopes = [] } = options;
  if (user === undefined) throw new Ending("usage", ["--user: who will call with the token?"]);
  const body = {
    user,
    groups,
    scopes,
    ...(tenant !== undefined && { tenant }),
    ...(client !== undefined && { client }),
    ...(role !== undefined && { role }),
    ...(expires !== undefined && { expiresIn: expires }),
  };
  const made = objectOf(
    await operate({ id: "tokens.create", method: "POST", path: "/api/tokens", input: { body } }, options),
  );
  if (options.json) return printJson(made);
  print(String(made.token));
  say(`this is the token ${made.id} of ${user}; it is shown only now and cannot be shown again`);
}

async function list(options: TokenOptions): Promise<void> {
  const tokens = await all(options);
  if (options.json) return printJson({ tokens });
  if (tokens.length === 0) return print("There are no tokens.");
  const rows = tokens.map(({ id, tenant, user, client, role, expiresAt, lastUsedAt }) =>
    [id, tenant, user, client, role, day(expiresAt), day(lastUsedAt)].map((cell) => textOf(cell) ?? ""),
  );
  const head = ["ID", "TENANT", "USER", "CLIENT", "ROLE", "EXPIRES", "LAST USED"];
  for (const line of tableLines([head, ...rows], { width: outputWidth() })) print(line);
}

/** Page after page. */
async function all(options: TokenOptions, after?: string): Promise<readonly JsonObject[]> {
  const input = after === undefined ? {} : { after };
  const path = `/api/tokens?${new URLSearchParams(input)}`.replace(/\?$/, "");
  const { tokens, next } = objectOf(await operate({ id: "tokens.list", method: "GET", path, input }, options));
  const page = objectsIn(tokens);
  const last = textOf(next);
  return last === undefined ? page : [...page, ...(await all(options, last))];
}

async function revoke(id: string | undefined, options: TokenOptions): Promise<void> {
  if (id === undefined) throw new Ending("usage", ['which token? "isthmus token list" shows their ids']);
  const path = `/api/tokens/${encodeURIComponent(id)}`;
  await operate({ id: "tokens.revoke", method: "DELETE", path, input: { id } }, options);
  if (options.json) printJson({ revoked: id });
  else print(`Revoked ${id}.`);
}

function day(time: unknown): string {
  return textOf(time)?.slice(0, "2026-01-31".length) ?? "never";
}
