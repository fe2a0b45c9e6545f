/** The `[database]`, `[shared]` and `[cluster]` tables: where the gateway keeps what outlives a call, alone or with others. */
import { join, resolve } from "node:path";
import * as z from "zod";
import { durationMs } from "./amounts.ts";
import { isLoopback, type ListenAddress, parseListen } from "./listen-address.ts";
import { type Problem, valueAt } from "./problem.ts";
import { secretReference } from "./reference-schema.ts";
import { type Resolver, resolveReferences } from "./references.ts";
import type { Secret } from "./secret.ts";

const urlOrReference = z.union(
  [z.string(), z.strictObject({ fromEnv: z.string() }), z.strictObject({ fromFile: z.string() })],
  { error: 'expected a URL, { fromEnv = "NAME" } or { fromFile = "path" }' },
);

const address = z.string().refine((text) => parseListen(text) !== undefined, {
  error: 'expected HOST:PORT such as "10.0.0.7:7412"',
});

export const databaseSchema = z
  .strictObject({
    url: urlOrReference
      .optional()
      .describe(
        "`postgres://…`, `sqlite:path` or `memory:`. By default a SQLite file in the state folder. `--database` wins over it.",
      ),
  })
  .describe("Tasks, deliveries and whatever else is kept in tables.");

export const sharedSchema = z
  .strictObject({
    url: urlOrReference
      .optional()
      .describe(
        "`redis://…` or `rediss://…`, for several processes. By default what one process needs is kept with the database. `--shared` wins over it.",
      ),
    volatile: z
      .boolean()
      .default(false)
      .describe(
        "Accepts a Redis that forgets what it acknowledged (no `appendonly yes`, or another policy than `noeviction`).",
      ),
  })
  .describe("Sessions, open calls and leases.");

export const clusterSchema = z
  .strictObject({
    listen: address
      .default("127.0.0.1:0")
      .describe("Where the other processes reach this one, as HOST:PORT. Used only with `[shared] url`."),
    advertise: address
      .optional()
      .describe(
        "The address the others are told, where it is not the one of `listen`; port 0 means the one that was taken.",
      ),
    key: secretReference
      .optional()
      .describe(
        "What the processes prove themselves with to each other, at least 32 bytes. By default the first one makes it and keeps it in the shared store.",
      ),
    lease: durationMs
      .prefault("15s")
      .describe("How long a process that says nothing is taken for alive; then others take over its sessions."),
    cookie: z
      .boolean()
      .default(false)
      .describe("Whether answers to `initialize` set the cookie `gw_route`, for balancers that route by a cookie."),
  })
  .describe("Several processes as one gateway.");

type DatabaseConfig =
  | { readonly kind: "memory"; readonly isDefault?: true }
  | { readonly kind: "sqlite"; readonly file: string; readonly isDefault?: true }
  | { readonly kind: "postgres"; readonly url: Secret; readonly isDefault?: never };

export type StateConfig = {
  /** `isDefault`: no setting names it; it follows from the state folder. */
  readonly database: DatabaseConfig;
  readonly shared:
    | { readonly kind: "embedded" }
    | { readonly kind: "redis"; readonly url: Secret; readonly isVolatile: boolean };
  readonly cluster: {
    readonly listen: ListenAddress;
    readonly advertise?: ListenAddress;
    readonly key?: Secret;
    readonly leaseMs: number;
    readonly hasCookie: boolean;
  };
};

export type StateTables = {
  readonly shared: z.output<typeof sharedSchema>;
  readonly cluster: z.output<typeof clusterSchema>;
};

export type StateSecrets = { readonly database?: Secret; readonly shared?: Secret; readonly key?: Secret };

const KEY_BYTES = 32;

/** What the tables refer to. Problems go to the resolvers. */
export function resolveState(table: unknown, resolverAt: (path: Problem["path"]) => Resolver): StateSecrets {
  const one = (path: [string, string]): Secret | undefined => {
    const [name, key] = path;
    return resolveReferences({ [key]: valueAt(table, path) }, [name], resolverAt(path))[key];
  };
  const [database, shared, key] = [one(["database", "url"]), one(["shared", "url"]), one(["cluster", "key"])];
  if (key && Buffer.byteLength(key.reveal()) < KEY_BYTES) {
    resolverAt(["cluster", "key"]).onProblem(["cluster", "key"], `expected at least ${KEY_BYTES} bytes`);
  }
  return { ...(database && { database }), ...(shared && { shared }), ...(key && { key }) };
}

/** What is wrong with the tables beyond their form. Never says a URL, which may hold a password, and nothing of one that is not known. */
export function checkState(table: unknown, { database, shared }: StateSecrets): Problem[] {
  const problems: Problem[] = [];
  const kind = database && schemeOf(database);
  if (kind !== undefined && !DATABASES.includes(kind)) {
    const text = 'expected a URL that begins with "postgres:", "sqlite:" or "memory:"';
    problems.push({ path: ["database", "url"], text });
  }
  if (shared && !["redis", "rediss"].includes(schemeOf(shared))) {
    problems.push({ path: ["shared", "url"], text: 'expected a URL that begins with "redis:" or "rediss:"' });
  }
  const isKnown = database !== undefined || valueAt(table, ["database", "url"]) === undefined;
  if (shared && isKnown && kind !== "postgres" && kind !== "postgresql") {
    const text = "several processes keep their tables in one PostgreSQL; set [database] url, too";
    problems.push({ path: ["shared", "url"], text });
  }
  const listen = parseListen(String(valueAt(table, ["cluster", "listen"]) ?? ""));
  if (shared && listen && !isLoopback(listen.host) && valueAt(table, ["cluster", "key"]) === undefined) {
    const text =
      "an address beyond this machine needs [cluster] key, so that whoever reads Redis cannot speak as a process";
    problems.push({ path: ["cluster", "listen"], text });
  }
  return problems;
}

const DATABASES = ["postgres", "postgresql", "sqlite", "memory"];

function schemeOf(url: Secret): string {
  return url.reveal().split(":", 1)[0] ?? "";
}

/** `folder`: where a relative file starts; `state`: the state folder, if there is one. */
export function shapeState(
  { shared, cluster }: StateTables,
  secrets: StateSecrets,
  { folder, state }: { readonly folder: string; readonly state: string | undefined },
): StateConfig {
  const { listen, advertise, lease, cookie } = cluster;
  return {
    database: databaseOf(secrets.database, folder, state),
    shared: secrets.shared ? { kind: "redis", url: secrets.shared, isVolatile: shared.volatile } : { kind: "embedded" },
    cluster: {
      listen: parseListen(listen) as ListenAddress,
      ...(advertise !== undefined && { advertise: parseListen(advertise) as ListenAddress }),
      ...(secrets.key && { key: secrets.key }),
      leaseMs: lease,
      hasCookie: cookie,
    },
  };
}

/** Whether a gateway with this config remembers nothing beyond its own end. */
export function keepsNothing({ database, shared }: StateConfig): boolean {
  return database.kind === "memory" && shared.kind === "embedded";
}

function databaseOf(url: Secret | undefined, folder: string, state: string | undefined): DatabaseConfig {
  if (!url) {
    if (state === undefined) return { kind: "memory", isDefault: true };
    return { kind: "sqlite", file: join(state, "isthmus.db"), isDefault: true };
  }
  const scheme = schemeOf(url);
  if (scheme === "memory") return { kind: "memory" };
  if (scheme === "sqlite") {
    return { kind: "sqlite", file: resolve(folder, url.reveal().replace(/^sqlite:(\/\/)?/, "")) };
  }
  return { kind: "postgres", url };
}
