/** Whether others on this machine can read or write a file, and what to run so that they cannot. */
import { accessSync, constants, lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { hasModes } from "./file-rights.ts";

/**
 * What it holds: `key`, a private key or what wraps others; `secret`, a token or password; `data`, what the gateway keeps;
 * `trust`, what it believes and is no secret; `folder`, where it keeps things.
 */
export type Holding = "key" | "secret" | "data" | "trust" | "folder";
export type HeldFile = {
  readonly file: string;
  readonly holds: Holding;
  /** It says which programs are started: whoever writes it is whoever runs the gateway. */
  readonly isConfig?: boolean;
};

export type FileFinding = {
  readonly file: string;
  /** With it no gateway starts. */
  readonly isRefused: boolean;
  /** The end of a sentence about it. */
  readonly found: string;
  /** What to run. */
  readonly fix: string;
};

/** Whose process asks; unset where the system has no such thing. */
export type Owner = { readonly uid: number; readonly gid: number };

const READ = 4;
const WRITE = 2;
const OWN_READ = 0o400;
const STICKY = 0o1000;

/**
 * Nothing where everything is well. Links are followed: what counts is what is read. Where a file is counts whether it is there
 * or not, with every folder above.
 */
export function inspectFile(held: HeldFile, owner: Owner): readonly FileFinding[] {
  const file = resolve(held.file);
  const real = unlessGone(() => realpathSync(file));
  const stats = real === undefined ? undefined : unlessGone(() => statSync(real));
  const about = real !== undefined && stats && { ...held, file: real, stats, owner };
  const own = about ? [...ownerFinding(about), ...closedFinding(about), ...modeFinding(about)] : [];
  const ways = new Set([file, real ?? file]);
  const found = [...own, ...uniqueFindings([...ways].flatMap((way) => wayFindings(way, held, owner)))];
  // Nobody could mend it there: it is told, and taken.
  return found.some(({ isRefused }) => isRefused) && !hasModes(real ?? dirname(file))
    ? found.map((one) => ({ ...one, isRefused: false }))
    : found;
}

/** Of several about the same thing to run, one: the gravest. */
export function uniqueFindings(found: readonly FileFinding[]): readonly FileFinding[] {
  const kept = new Map<string, FileFinding>();
  for (const one of found) {
    const key = `${one.file} ${one.fix}`;
    if (!kept.has(key) || (one.isRefused && !kept.get(key)?.isRefused)) kept.set(key, one);
  }
  return [...kept.values()];
}

function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

type About = HeldFile & { readonly stats: Stats; readonly owner: Owner };

function ownerFinding({ file, holds, stats, owner }: About): readonly FileFinding[] {
  const isClosed = holds !== "trust" && isRootsAlone(stats);
  if (stats.uid === owner.uid || (stats.uid === 0 && !isClosed)) return [];
  const found = stats.uid === 0 ? "can be read by root alone" : `belongs to another user (uid ${stats.uid})`;
  return [{ file, isRefused: holds === "key", found, fix: `chown ${owner.uid} ${quoted(file)}` }];
}

/** An access list would show as rights of the group. */
function isRootsAlone({ mode }: Stats): boolean {
  return (mode & 0o077) === 0;
}

/** A key that its own user cannot read; root reads everything. */
function closedFinding({ file, holds, stats, owner }: About): readonly FileFinding[] {
  if (holds !== "key" || owner.uid === 0 || stats.uid !== owner.uid || (stats.mode & OWN_READ) !== 0) return [];
  const found = `cannot be read by its own user (mode ${modeText(stats)})`;
  return [{ file, isRefused: true, found, fix: `chmod ${modeFor(holds)} ${quoted(file)}` }];
}

function modeFinding(about: About): readonly FileFinding[] {
  const { file, holds, stats, owner } = about;
  const wanted = holds === "trust" ? WRITE : READ | WRITE;
  const others = stats.mode & wanted;
  const group = groupBits(stats, owner) & wanted;
  if (others === 0 && group === 0) return [];
  // What its group can do beside.
  const more = group & ~others;
  const who = [others && `${deedsOf(others)} by everybody`, more && `${deedsOf(more)} by its group`].filter(Boolean);
  const found = `can be ${who.join(" and ")} (mode ${modeText(stats)})`;
  return [{ file, isRefused: isRefused(about, others, group), found, fix: `chmod ${modeFor(holds)} ${quoted(file)}` }];
}

/** On most systems each user has a group of the same number for themselves: what it may do, nobody else may. */
function groupBits({ gid, mode }: Stats, owner: Owner): number {
  const isOwnGroup = gid === owner.gid && owner.gid === owner.uid;
  return isOwnGroup ? 0 : mode >> 3;
}

function isRefused({ file, holds, stats, isConfig }: About, others: number, group: number): boolean {
  if (holds === "key") return others !== 0 || (group & WRITE) !== 0;
  if (isConfig) return (others & WRITE) !== 0 && !isReadOnly(file);
  // Whoever can write the folder can put other keys into it.
  return holds === "folder" && (others & WRITE) !== 0 && (stats.mode & STICKY) === 0;
}

/** Whoever can write where a file is, or a folder above, can put another one there. */
function wayFindings(file: string, held: HeldFile, owner: Owner): readonly FileFinding[] {
  const found: FileFinding[] = [];
  for (let [child, folder] = [file, dirname(file)]; child !== folder; [child, folder] = [folder, dirname(folder)]) {
    const stats = unlessGone(() => statSync(folder));
    if (stats?.isDirectory() && !isReadOnly(folder))
      found.push(...placeFinding({ child, folder, stats, isNext: child === file }, held, owner));
  }
  return found;
}

type Place = { readonly child: string; readonly folder: string; readonly stats: Stats; readonly isNext: boolean };

function placeFinding({ child, folder, stats, isNext }: Place, held: HeldFile, owner: Owner): readonly FileFinding[] {
  const { holds, isConfig = false } = held;
  const isGrave = isConfig || holds === "key" || holds === "folder";
  const what = `holds ${isConfig ? "the config" : WORDS[holds]} and`;
  const mode = `(mode ${modeText(stats)})`;
  if ((stats.mode & WRITE) === 0) {
    if (!isConfig || !isNext || (groupBits(stats, owner) & WRITE) === 0) return [];
    const fix = `chmod g-w ${quoted(folder)}`;
    return [{ file: folder, isRefused: false, found: `${what} can be written by its group ${mode}`, fix }];
  }
  if ((stats.mode & STICKY) === 0) {
    const fix = `chmod o-w ${quoted(folder)}`;
    return [{ file: folder, isRefused: isGrave, found: `${what} can be written by everybody ${mode}`, fix }];
  }
  // Everybody can put things there, and nobody can take those of others away: whose it is decides.
  const uid = isNext && isGrave ? unlessGone(() => lstatSync(child))?.uid : undefined;
  if (uid === undefined || uid === owner.uid || uid === 0) return [];
  const found = `belongs to another user (uid ${uid}), in a folder that everybody can write`;
  return [{ file: child, isRefused: true, found, fix: `chown -h ${owner.uid} ${quoted(child)}` }];
}

const WORDS: Record<Holding, string> = {
  key: "a key",
  secret: "a secret",
  data: "what is kept",
  trust: "what is believed",
  folder: "the state",
};

/** A mount that nobody can write, whatever the modes on it say: Kubernetes mounts its config maps so, with mode 0777. */
function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EROFS";
  }
}

function deedsOf(bits: number): string {
  if ((bits & READ) === 0) return "written";
  return (bits & WRITE) === 0 ? "read" : "read and written";
}

function modeText({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

function modeFor(holds: Holding): string {
  if (holds === "trust") return "go-w";
  return holds === "folder" ? "700" : "600";
}

function quoted(file: string): string {
  return /^[\w./:@+-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}
