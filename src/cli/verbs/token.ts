import { readDuration } from "../arguments/duration.ts";
import { configuredUrl, parseGatewayUrl } from "../client/gateway-url.ts";
import { type OperatorFlags, operate } from "../client/operate.ts";
import { Ending } from "../ending.ts";
import { type JsonObject, objectOf, objectsIn, textOf } from "../json.ts";
import { aboutGateway, otherConfig } from "../operator/other-config.ts";
import { print, printJson, say, tableWidth } from "../output/console.ts";
import { tableLines } from "../output/table.ts";
import { readGatewayPlace, readOwnConfig } from "../own-config.ts";
import { PROGRAM } from "../program-name.ts";

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
  action: "create" | "list" | "rotate" | "revoke",
  id: string | undefined,
  options: TokenOptions,
): Promise<void> {
  switch (action) {
    case "create":
      return await create(options);
    case "list":
      return await list(options);
    case "rotate":
      return await rotate(id, options);
    case "revoke":
      return await revoke(id, options);
  }
}

/** Tokens are for the gateway of the config: where another one has its address, they go into its database. */
function placed(options: TokenOptions): OperatorFlags {
  return { ...options, besideAnother: "stores" };
}

const NO_TOKENS = [
  "the gateway that runs keeps no tokens, so nothing was done: it was started without a config, or keeps nothing",
  "write tokens = true under [auth] of its config, and start it again",
];

async function create(options: TokenOptions): Promise<void> {
  const { user, tenant, client, role, expires, group: groups = [], scope: scopes = [] } = options;
  if (user === undefined) throw new Ending("usage", ["--user: who will call with the token?"]);
  if (expires !== undefined) readDuration("--expires", expires);
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
    await operate(
      { id: "tokens.create", method: "POST", path: "/api/tokens", role: "admin", input: { body }, missing: NO_TOKENS },
      placed(options),
    ),
  );
  if (!(await areAccepted(options))) say(NOT_ACCEPTED);
  if (options.json) return printJson(made);
  print(String(made.token));
  say(`this is the token ${made.id} of ${user}; it is shown only now and cannot be shown again`);
}

const NOT_ACCEPTED =
  "nobody is known by this token yet: write tokens = true under [auth] of the gateway's config, and start it again";

/** Whether callers can be known by tokens of the gateway, as far as that can be told: it says, or its config is here. */
async function areAccepted({ url: named, config }: TokenOptions): Promise<boolean> {
  const flags = config === undefined ? {} : { config };
  const place = named === undefined ? readGatewayPlace(flags) : undefined;
  const url = named === undefined ? place && configuredUrl(place) : parseGatewayUrl(named);
  const about = url ? await aboutGateway(url) : {};
  const isOther = place !== undefined && otherConfig(about, place) !== undefined;
  if (!isOther && about.knowsCallers === false) return false;
  if (!place) return true;
  try {
    return readOwnConfig(flags).config.auth.tokens;
  } catch (error) {
    if (error instanceof Ending) return true;
    throw error;
  }
}

async function list(options: TokenOptions): Promise<void> {
  const tokens = await all(options);
  if (options.json) return printJson({ tokens });
  if (tokens.length === 0) return print("There are no tokens.");
  const rows = tokens.map(({ id, tenant, user, client, role, expiresAt, lastUsedAt }) =>
    [id, tenant, user, client, role, untilWhen(expiresAt), day(lastUsedAt)].map((cell) => textOf(cell) ?? ""),
  );
  const head = ["ID", "TENANT", "USER", "CLIENT", "ROLE", "EXPIRES", "LAST USED"];
  for (const line of tableLines([head, ...rows], { width: tableWidth() })) print(line);
}

/** Page after page. */
async function all(options: TokenOptions, after?: string): Promise<readonly JsonObject[]> {
  const input = after === undefined ? {} : { after };
  const path = `/api/tokens?${new URLSearchParams(input)}`.replace(/\?$/, "");
  const { tokens, next } = objectOf(
    await operate(
      { id: "tokens.list", method: "GET", path, role: "admin", input, missing: NO_TOKENS },
      placed(options),
    ),
  );
  const page = objectsIn(tokens);
  const last = textOf(next);
  return last === undefined ? page : [...page, ...(await all(options, last))];
}

/** The new token takes the place of the old one at once. */
async function rotate(id: string | undefined, options: TokenOptions): Promise<void> {
  const path = `/api/tokens/${encodeURIComponent(named(id))}/rotate`;
  if (options.expires !== undefined) readDuration("--expires", options.expires);
  const body = options.expires === undefined ? {} : { expiresIn: options.expires };
  const order = {
    id: "tokens.rotate",
    method: "POST",
    path,
    role: "admin",
    input: { id, body },
    missing: noToken(named(id)),
  } as const;
  const made = objectOf(await operate(order, placed(options)));
  if (options.json) return printJson(made);
  print(String(made.token));
  say(`this is the token ${made.id} of ${made.user}; ${id} is refused from now on. It cannot be shown again`);
}

function named(id: string | undefined): string {
  if (id === undefined) throw new Ending("usage", [`which token? "${PROGRAM} token list" shows their ids`]);
  return id;
}

function noToken(id: string): readonly string[] {
  return [`there is no token ${JSON.stringify(id)}; "${PROGRAM} token list" shows their ids`];
}

async function revoke(given: string | undefined, options: TokenOptions): Promise<void> {
  const id = named(given);
  const path = `/api/tokens/${encodeURIComponent(id)}`;
  await operate(
    { id: "tokens.revoke", method: "DELETE", path, role: "admin", input: { id }, missing: noToken(id) },
    placed(options),
  );
  if (options.json) printJson({ revoked: id });
  else print(`Revoked ${id}.`);
}

/** One that ends today is good until then, and one that has ended has the same day. */
function untilWhen(time: unknown): string {
  return Date.parse(textOf(time) ?? "") <= Date.now() ? "expired" : day(time);
}

function day(time: unknown): string {
  return textOf(time)?.slice(0, "2026-01-31".length) ?? "never";
}
