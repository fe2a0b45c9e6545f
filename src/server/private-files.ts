/** Every file that a gateway keeps or is given, and which of them others can read or write. */
import { accessSync, constants, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../contract/index.ts";
import { type Config, ConfigError, type NamedFile } from "./config/index.ts";
import { type FileFinding, type HeldFile, inspectFile, type Owner, uniqueFindings } from "./file-owners.ts";
import { hasWrittenSecrets } from "./given-secrets.ts";

export type ConfigFiles = {
  /** The config itself. */
  readonly files: readonly string[];
  /** What it names. */
  readonly named: readonly NamedFile[];
};

/**
 * Each file once, for the gateway of this config, whoever asks. Root may ask for another user's: then they are looked at as files of
 * the user who has the state folder, and the first finding says so. Nothing on Windows, which has other rights.
 */
export function inspectFiles(config: Config, files: ConfigFiles, asker = ownUser()): readonly FileFinding[] {
  const { state } = config.gateway;
  const keeper = asker?.uid === 0 && state !== undefined ? ownerOf(state) : undefined;
  if (state === undefined || !keeper || keeper.uid === 0) return inspectAs(asker, config, files);
  const found = `belongs to uid ${keeper.uid}: all files are looked at as that user's`;
  const note = { file: state, isRefused: false, found, fix: "doctor as the user that runs the gateway" };
  return [note, ...inspectAs(keeper, config, files)];
}

/**
 * Whose the state folder is, where that is neither the user who asks nor one who lets them in: what such a user sees of the files in
 * it is not what the gateway sees. Undefined: the files can be looked at.
 */
export function foreignKeeper({ gateway: { state } }: Pick<Config, "gateway">, asker = ownUser()): string | undefined {
  if (state === undefined || !asker || asker.uid === 0) return undefined;
  try {
    const stats = ownerOf(state);
    if (!stats?.isDirectory() || stats.uid === asker.uid) return undefined;
    return isOpen(state) ? undefined : stats.uid === 0 ? "root" : `uid ${stats.uid}`;
  } catch {
    // Not even the way to it can be gone.
    return undefined;
  }
}

function isOpen(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function inspectAs(owner: Owner | undefined, config: Config, files: ConfigFiles): readonly FileFinding[] {
  return owner ? uniqueFindings(heldFiles(config, files).flatMap((held) => inspectFile(held, owner))) : [];
}

function ownerOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** Says what is open to others, each once for this instance. */
export class FileWarden {
  readonly #log: Log;
  readonly #owner: Owner | undefined;
  readonly #told = new Set<string>();
  /** To whom the config has belonged since the first look: whoever started the gateway knew that. */
  #configOwners: ReadonlySet<number> | undefined;

  constructor(log: Log, owner = ownUser()) {
    this.#log = log;
    this.#owner = owner;
  }

  /** Throws ConfigError where it is a key, or the config, or it came from somebody who had no part in it. */
  check(config: Config, files: ConfigFiles): void {
    const found = inspectAs(this.#owner, config, files);
    const refused = found.filter(({ isRefused }) => isRefused).map(findingText);
    const problems = [...refused, ...this.#newOwners(files)];
    if (problems.length > 0) throw new ConfigError(problems);
    for (const { file, found: what, fix } of found) {
      if (this.#told.has(`${file} ${what}`)) continue;
      this.#told.add(`${file} ${what}`);
      this.#log.warn("others can get at a file", { file, found: what, fix });
    }
  }

  #newOwners({ files }: ConfigFiles): readonly string[] {
    const owner = this.#owner;
    if (!owner) return [];
    const owners = files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.uid ?? owner.uid] as const);
    this.#configOwners ??= new Set([owner.uid, 0, ...owners.map(([, uid]) => uid)]);
    return owners
      .filter(([, uid]) => !this.#configOwners?.has(uid))
      .map(
        ([file, uid]) =>
          `${file} belongs to another user by now (uid ${uid}); if it is right, run: chown ${owner.uid} ${file}`,
      );
  }
}

function findingText({ file, found, fix }: FileFinding): string {
  return `${file} ${found}; run: ${fix}`;
}

function heldFiles(config: Config, { files, named }: ConfigFiles): readonly HeldFile[] {
  const isSecretive = hasWrittenSecrets(config);
  const anchors = config.gate.anchors.flatMap(({ file }) => (file === undefined ? [] : [file]));
  return [
    ...named,
    ...files.map((file): HeldFile => ({ file, holds: isSecretive ? "secret" : "trust", isConfig: true })),
    ...anchors.map((file): HeldFile => ({ file, holds: "trust" })),
    ...keptFiles(config),
  ];
}

function keptFiles({ gateway: { state }, state: { database }, audit }: Config): readonly HeldFile[] {
  const data = (file: string): HeldFile => ({ file, holds: "data" });
  const sqlite = database.kind === "sqlite" ? ["", "-wal", "-shm"].map((end) => data(`${database.file}${end}`)) : [];
  const file = audit.file ? [data(audit.file.path)] : [];
  if (state === undefined) return [...sqlite, ...file];
  return [
    { file: state, holds: "folder" },
    { file: join(state, "audit-key.pem"), holds: "key" },
    { file: join(state, "vault.keys"), holds: "key" },
    { file: join(state, "audit"), holds: "folder" },
    ...["audit-checkpoint.json", "pins.json", "gateway.json"].map((name) => data(join(state, name))),
    ...sqlite,
    ...file,
  ];
}

/** Undefined on Windows. */
export function ownUser(): Owner | undefined {
  const [uid, gid] = [process.getuid?.(), process.getgid?.()];
  return uid === undefined || gid === undefined ? undefined : { uid, gid };
}
