/** What an import would do, before anything is done: which servers are new, under which ids, and which secrets move. */
import { basename } from "node:path";
import { RESERVED_CATALOG_IDS, segmentOf } from "../../contract/index.ts";
import { headerName, isHeaderText } from "../../server/config/header-schema.ts";
import type { NewServer, Reference } from "../config-file/server-text.ts";
import type { FoundServer } from "./found-server.ts";
import { maskedArguments, maskedUrl } from "./masked.ts";
import type { TakeSecretPath } from "./secret-paths.ts";
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
  /** Whether the config, or what was planned before, has this server under that id. */
  readonly isSame: (id: string, server: Omit<NewServer, "id">) => boolean;
  /** Whether a server is this gateway. */
  readonly isOurs: (server: Omit<NewServer, "id">) => boolean;
  readonly takeSecretPath: TakeSecretPath;
};

const MAX_ID = 63;

export function planImport(found: readonly FoundServer[], context: PlanContext): ImportPlan {
  const secrets: SecretFile[] = [];
  const segments = new Set(context.segments);
  const ids = new Set(context.ids);
  const servers = found.map(({ name, server, notes }): PlannedServer => {
    const skip = (why: string, isOnlyThere: boolean) => ({ name, server: undefined, isOnlyThere, notes: [why] });
    if (!server) return { name, server, isOnlyThere: true, notes };
    if (context.isOurs(server)) return skip("is this gateway", false);
    const fault = faultOfHeaders(server.headers);
    if (fault !== undefined) return skip(fault, true);
    const wanted = idFor(name);
    const present = presentId(wanted, server, context);
    if (present !== undefined) return skip(`is in the config already${renamed(name, present)}`, false);
    const id = freeId(wanted, (one) => ids.has(one) || segments.has(segmentOf(one)));
    const whyRenamed = id === name ? [] : [`is called "${id}" here: ${reasonFor(name, wanted, id)}`];
    segments.add(segmentOf(id));
    ids.add(id);
    const told = [...notes, ...whyRenamed, ...warnOfArguments(server)];
    const toFile = (key: string, value: string) => {
      const path = context.takeSecretPath(id, key, value);
      secrets.push({ path, value });
      return path;
    };
    const move = (table: NewServer["env"]) => moveSecrets(table, toFile, told);
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

/** The value stays out of it: it may be a secret. */
function faultOfHeaders(headers: NewServer["headers"] = {}): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    const shown = JSON.stringify(name);
    if (!headerName.safeParse(name).success) return `has a header ${shown}, which is no name that can be sent`;
    if (typeof value === "string" && !isHeaderText(value))
      return `its header ${shown} holds a line break, another control character or text that is not latin1`;
  }
  return undefined;
}

/** Why a server cannot keep the name that its client has for it. */
function reasonFor(name: string, wanted: string, id: string): string {
  if (id !== wanted) return `another server has "${wanted}" already`;
  if (RESERVED_CATALOG_IDS.includes(name)) return `"/${name}" is a path of the gateway`;
  if (name.length > MAX_ID) return `an id has at most ${MAX_ID} characters, and only A-Z a-z 0-9 _ -`;
  return "an id has only the characters A-Z a-z 0-9 _ -";
}

function freeId(wanted: string, isTaken: (id: string) => boolean): string {
  let id = wanted;
  for (let number = 2; isTaken(id); number++) id = `${wanted.slice(0, MAX_ID - 4)}-${number}`;
  return id;
}

/** Of several that wanted one id, the one that is this server; undefined: none of them is. */
function presentId(wanted: string, server: Omit<NewServer, "id">, { ids, isSame }: PlanContext): string | undefined {
  const others = [...ids].filter((id) => id.startsWith(`${wanted.slice(0, MAX_ID - 4)}-`));
  return [wanted, ...others].find((id) => isSame(id, server));
}

function renamed(name: string, id: string): string {
  return name === id ? "" : ` as "${id}"`;
}

function moveSecrets(
  table: Readonly<Record<string, Reference>> = {},
  toFile: (key: string, value: string) => string,
  notes: string[],
): Record<string, Reference> {
  const pairs = Object.entries(table).map(([key, value]): [string, Reference] => {
    if (typeof value === "string" && defaultsIn(value).some((one) => looksSecret(key, one)))
      notes.push(`the default of ${key} looks like a secret; it is copied as it is`);
    if (typeof value !== "string" || !looksSecret(key, value)) return [key, value];
    const path = toFile(key, value);
    notes.push(`${key} goes to ${path}, readable by you alone`);
    return [key, { fromFile: path }];
  });
  return Object.fromEntries(pairs);
}

/** Of `${NAME:-default}`. */
function defaultsIn(text: string): string[] {
  return [...text.matchAll(/\$\{\w+:-([^}]+)\}/g)].map(([, fallback = ""]) => fallback);
}

/** Arguments cannot be references: what is copied in the clear is at least said. */
function warnOfArguments({ args = [], url = "" }: Omit<NewServer, "id">): string[] {
  const isMasked = maskedArguments(args).some((arg, index) => arg !== args[index]);
  const found = isMasked ? ["its args hold what looks like a secret; they are copied as they are"] : [];
  return maskedUrl(url) === url ? found : [...found, "its url holds what looks like a secret; it is copied as it is"];
}

/** Whether a server of a client is `isthmus stdio`, or the address of this gateway, also where a bridge is told it. */
export function isOurServer({ command, args = [], url }: Omit<NewServer, "id">, gatewayUrl: URL | undefined): boolean {
  const isOurs = (address: string) =>
    gatewayUrl !== undefined && /^https?:/i.test(address) && URL.parse(address)?.host === gatewayUrl.host;
  if (url !== undefined) return isOurs(url);
  const words = [command ?? "", ...args].map((word) =>
    basename(word.replaceAll("\\", "/")).replace(/\.(?:js|cmd|exe)$/, ""),
  );
  return (words.includes("isthmus") && args.includes("stdio")) || args.some(isOurs);
}
