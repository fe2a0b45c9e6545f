/** What an import would do, before anything is done: which servers are new, under which ids, and which secrets move. */
import { basename } from "node:path";
import { RESERVED_CATALOG_IDS, segmentOf } from "../../contract/index.ts";
import type { NewServer, Reference } from "../config-file/server-text.ts";
import type { FoundServer } from "./found-server.ts";
import { looksSecret } from "./secrets.ts";

export type PlannedServer = {
  /** As the client calls it. */
  readonly name: string;
  /** Undefined: it is not taken, and `notes` says why. */
  readonly server: NewServer | undefined;
  /** It stays with the client when the rest moves here: it is nowhere else. */
  readonly isOnlyThere: boolean;
  readonly notes: readonly string[];
};

/** A value that goes into a file of its own. */
export type SecretFile = { readonly path: string; readonly value: string };

export type ImportPlan = { readonly servers: readonly PlannedServer[]; readonly secrets: readonly SecretFile[] };

export type PlanContext = {
  /** Of the servers that the config has, and of those planned before. */
  readonly ids: ReadonlySet<string>;
  readonly segments: ReadonlySet<string>;
  /** Whether a server is this gateway. */
  readonly isOurs: (server: Omit<NewServer, "id">) => boolean;
};

const SECRET_FOLDER = ".isthmus/secrets";
const MAX_ID = 63;

export function planImport(found: readonly FoundServer[], context: PlanContext): ImportPlan {
  const secrets: SecretFile[] = [];
  const segments = new Set(context.segments);
  const servers = found.map(({ name, server, notes }): PlannedServer => {
    const skip = (why: string, isOnlyThere: boolean) => ({ name, server: undefined, isOnlyThere, notes: [why] });
    if (!server) return { name, server, isOnlyThere: true, notes };
    if (context.isOurs(server)) return skip("is this gateway", false);
    const wanted = idFor(name);
    if (context.ids.has(wanted)) return skip(`is in the config already${renamed(name, wanted)}`, false);
    const id = freeId(wanted, segments);
    segments.add(segmentOf(id));
    const told = [...notes, ...(id === name ? [] : [`is called "${id}" here`]), ...warnOfArguments(server)];
    const move = (table: NewServer["env"]) => moveSecrets(id, table, secrets, told);
    const moved = {
      ...server,
      ...(server.env && { env: move(server.env) }),
      ...(server.headers && { headers: move(server.headers) }),
    };
    return { name, server: { id, ...moved }, isOnlyThere: false, notes: told };
  });
  return { servers, secrets };
}

/** An id from a client's name: what does not fit becomes "-", and no path of the gateway is taken. */
export function idFor(name: string): string {
  const id =
    name
      .replace(/[^A-Za-z0-9_-]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, MAX_ID) || "server";
  return RESERVED_CATALOG_IDS.includes(id) ? `${id}-server` : id;
}

function freeId(wanted: string, segments: ReadonlySet<string>): string {
  let id = wanted;
  for (let number = 2; segments.has(segmentOf(id)); number++) id = `${wanted.slice(0, MAX_ID - 4)}-${number}`;
  return id;
}

function renamed(name: string, id: string): string {
  return name === id ? "" : ` as "${id}"`;
}

function moveSecrets(
  id: string,
  table: Readonly<Record<string, Reference>> = {},
  secrets: SecretFile[],
  notes: string[],
): Record<string, Reference> {
  const pairs = Object.entries(table).map(([key, value]): [string, Reference] => {
    if (typeof value !== "string" || !looksSecret(key, value)) return [key, value];
    const path = `${SECRET_FOLDER}/${id}-${key.replace(/[^\w-]+/g, "_")}`;
    secrets.push({ path, value });
    notes.push(`${key} goes to ${path}, readable by you alone`);
    return [key, { fromFile: path }];
  });
  return Object.fromEntries(pairs);
}

/** Arguments cannot be references: what is copied in the clear is at least said. */
function warnOfArguments({ args = [], url = "" }: Omit<NewServer, "id">): string[] {
  const isSecret = (arg: string, index: number) => {
    const [, flag, inline] = /^(--?[\w-]+)=(.+)$/s.exec(arg) ?? [];
    if (flag !== undefined && inline !== undefined) return looksSecret(flag, inline);
    const before = args[index - 1] ?? "";
    return !arg.startsWith("-") && looksSecret(before.startsWith("-") ? before : "", arg);
  };
  const found = args.some(isSecret) ? ["its args hold what looks like a secret; they are copied as they are"] : [];
  return /\/\/[^/]*:[^/]*@|[?&][\w-]*(?:key|token|secret)=/i.test(url)
    ? [...found, "its url holds what looks like a secret; it is copied as it is"]
    : found;
}

/** Whether a server of a client is `isthmus stdio`, or the address of this gateway. */
export function isOurServer({ command, args = [], url }: Omit<NewServer, "id">, gatewayUrl: URL | undefined): boolean {
  if (url !== undefined) return gatewayUrl !== undefined && URL.canParse(url) && new URL(url).host === gatewayUrl.host;
  const words = [command ?? "", ...args].map((word) =>
    basename(word.replaceAll("\\", "/")).replace(/\.(?:js|cmd|exe)$/, ""),
  );
  return words.includes("isthmus") && args.includes("stdio");
}
