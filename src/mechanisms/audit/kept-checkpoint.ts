/**
 * The newest checkpoint of the trail, in a file beside the keys: whoever can write the database, and not this folder, cannot cut
 * the trail back to an older one unnoticed. What was kept once is never let go of for another trail; an operator does that.
 */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  type AuditCheckpoint,
  type AuditEvent,
  type AuditRows,
  DEFAULT_TENANT,
  GatewayError,
  type Log,
  makePrivateFolder,
  type Records,
} from "../../contract/index.ts";
import { checkpointHash, checkpointText } from "./checkpoint-text.ts";
import { KEY_FILE } from "./signing.ts";
import type { KnownCheckpoint } from "./trail-verifier.ts";

export type KeptOptions = {
  /** In which the key is, too. */
  readonly folder: string;
  readonly records: Pick<Records, "audit" | "sync">;
  readonly log: Log;
  readonly note: (event: AuditEvent) => void;
  /** Others write to the trail, too, with a key that is not in the folder. */
  readonly isShared: boolean;
};

const FILE = "audit-checkpoint.json";
/** The process or its machine is short of something, or the disk fails: that says nothing about the file. */
const PASSING: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "EIO", "ENOMEM", "EAGAIN"]);

export class KeptCheckpoint {
  readonly file: string;
  readonly #options: KeptOptions;
  /** The newest that this process has kept or found: the file may be taken away while it runs. */
  #newest: AuditCheckpoint | undefined;
  #isToldOf = false;
  /** That the file could not be read, since it was read last. */
  #isToldUnread = false;

  constructor(options: KeptOptions) {
    this.#options = options;
    this.file = join(options.folder, FILE);
  }

  /**
   * With a start: nothing is asked of the store where nothing was ever written by the key of this folder. False: what is kept
   * cannot be read now.
   */
  async begin(): Promise<boolean> {
    const { folder, isShared } = this.#options;
    if (isShared || existsSync(this.file) || existsSync(join(folder, KEY_FILE))) await this.#settle(true);
    return !this.#isToldUnread;
  }

  /** Compares the trail with what is kept, and keeps its newest checkpoint if it fits. What cannot be read now waits for the next time. */
  settle(): Promise<void> {
    return this.#settle(false);
  }

  async #settle(isStart: boolean): Promise<void> {
    const { records, log } = this.#options;
    const kept = await this.#read().catch((error: unknown) => this.#tellUnread(error));
    if (kept === "not now") return;
    this.#isToldUnread = false;
    const last = await records.audit.lastCheckpoint();
    if (kept === "unreadable" || (kept && !(await isIn(records.audit, kept)))) return this.#tell(kept, last);
    if (!last || last.number <= (kept?.number ?? 0)) return;
    // The first one of all was made just now, unless it was there when we came.
    if (!kept && (isStart || last.number > 1)) {
      const { file } = this;
      log.warn("no checkpoint of the audit trail was kept: what was cut off before cannot be told", {
        file,
        from: last.number,
      });
    }
    // Whatever is kept here must still be in the store after a power cut.
    await records.sync();
    await this.#write(last);
  }

  /**
   * What a whole trail has; unset: nothing is kept yet. Read from the file again, which another process may have written.
   * Rejects with STATE_UNAVAILABLE where it cannot be read now.
   */
  async known(): Promise<KnownCheckpoint | undefined> {
    const kept = await this.#read();
    if (kept === undefined) return undefined;
    const place = `kept in ${this.file}`;
    if (kept === "unreadable") return { number: 0, hash: "", place };
    return { number: kept.number, hash: checkpointHash(kept), at: new Date(kept.at).toISOString(), place };
  }

  async #read(): Promise<AuditCheckpoint | "unreadable" | undefined> {
    const text = await readFile(this.file, "utf8").catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "ENOENT") return undefined;
      if (!PASSING.has(cause.code ?? "")) return "";
      const message = `The kept checkpoint of the audit trail cannot be read now (${cause.code}).`;
      throw new GatewayError("STATE_UNAVAILABLE", { message, cause });
    });
    const found = text === undefined ? undefined : checkpointIn(text);
    if (found === "unreadable") return found;
    if (found && found.number > (this.#newest?.number ?? 0)) this.#newest = found;
    return this.#newest;
  }

  /** Never half a file. Where processes share the folder, one of them may write an older one: its next turn mends that. */
  async #write(checkpoint: AuditCheckpoint): Promise<void> {
    const { folder } = this.#options;
    const fresh = join(folder, `.${FILE}.${randomUUID()}.new`);
    makePrivateFolder(folder);
    try {
      const file = await open(fresh, "wx", 0o600);
      try {
        await file.writeFile(`${JSON.stringify({ ...checkpoint, hash: checkpointHash(checkpoint) })}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(fresh, this.file);
    } finally {
      await rm(fresh, { force: true });
    }
    this.#newest = checkpoint;
  }

  #tellUnread(error: unknown): "not now" {
    if (!this.#isToldUnread) {
      const { log } = this.#options;
      const { cause } = GatewayError.from(error);
      log.warn("the kept checkpoint of the audit trail cannot be read now, and is looked at again", {
        file: this.file,
        cause,
      });
    }
    this.#isToldUnread = true;
    return "not now";
  }

  /** Once for each process. The file stays as it is, so that `audit verify` goes on to say so. */
  #tell(kept: AuditCheckpoint | "unreadable", last: AuditCheckpoint | undefined): void {
    if (this.#isToldOf) return;
    this.#isToldOf = true;
    const { log, note } = this.#options;
    const was = kept === "unreadable" ? undefined : { kept: kept.number, keptAt: new Date(kept.at).toISOString() };
    const newest = last?.number ?? 0;
    log.error("the audit trail was cut back, or is another one: it lacks its kept checkpoint", {
      ...was,
      newest,
      file: this.file,
    });
    note({
      type: "dev.isthmus.audit.cut_back",
      tenant: DEFAULT_TENANT,
      actor: { type: "kernel", id: "isthmus" },
      target: { server: "", name: "" },
      result: "FAILURE",
      details: { ...(was && { kept_checkpoint: was.kept, kept_at: was.keptAt }), newest_checkpoint: newest },
    });
  }
}

async function isIn(rows: Pick<AuditRows, "checkpoints">, kept: AuditCheckpoint): Promise<boolean> {
  const [found] = await rows.checkpoints(kept.number, 1);
  return found?.number === kept.number && checkpointHash(found) === checkpointHash(kept);
}

function checkpointIn(text: string): AuditCheckpoint | "unreadable" {
  try {
    const { number, at, text: signed, signature, hash } = JSON.parse(text) as Record<string, unknown>;
    if (typeof number !== "number" || typeof at !== "number") return "unreadable";
    if (typeof signed !== "string" || typeof signature !== "string") return "unreadable";
    const checkpoint = { number, at, text: signed, signature };
    const isWhole = checkpointText(signed)?.number === number && checkpointHash(checkpoint) === hash;
    return isWhole ? checkpoint : "unreadable";
  } catch {
    return "unreadable";
  }
}
