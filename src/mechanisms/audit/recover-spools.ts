/** What processes that are gone have left in their spools becomes blocks of their chains, each event once. */
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type AuditBlock, type AuditHead, type Change, faultPoint, type Records } from "../../contract/index.ts";
import { entryOf, headOf, makeBlock, nextOf } from "./block.ts";
import { wholeLines } from "./short-lines.ts";
import type { Signer } from "./signing.ts";
import { parseSpoolName } from "./spool.ts";
import { isGone } from "./writer-name.ts";

export type RecoverOptions = {
  readonly folder: string;
  readonly records: Pick<Records, "audit" | "write">;
  readonly signer: Signer;
  /** The writer of this process. */
  readonly own: string;
  readonly onBlock: (block: AuditBlock) => void;
  /** As `ChainOptions.beside`. */
  readonly beside?: ((block: AuditBlock) => readonly Change[]) | undefined;
};

/** A process touches its files every few seconds; one that has not for so long is gone, wherever it was. */
const SILENT_MS = 60_000;
const MAX_BLOCKS = 16;

type Left = { readonly file: string; readonly first: number };

/** How many events were read back. Rejects with STATE_UNAVAILABLE: then it is to be tried again. */
export async function recoverSpools(options: RecoverOptions): Promise<number> {
  let count = 0;
  for (const [writer, files] of leftIn(options)) count += await recover(writer, files, options);
  return count;
}

function leftIn({ folder, own }: RecoverOptions): Map<string, Left[]> {
  const found = new Map<string, Left[]>();
  for (const name of namesIn(folder)) {
    const parsed = parseSpoolName(name);
    if (!parsed || parsed.writer === own || !isAbandoned(parsed.writer, join(folder, name))) continue;
    const files = found.get(parsed.writer) ?? [];
    files.push({ file: join(folder, name), first: parsed.first });
    found.set(parsed.writer, files);
  }
  for (const files of found.values()) files.sort((a, b) => a.first - b.first);
  return found;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isAbandoned(writer: string, file: string): boolean {
  if (isGone(writer)) return true;
  const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? { mtimeMs: Date.now() };
  return Date.now() - mtimeMs > SILENT_MS;
}

async function recover(writer: string, files: readonly Left[], options: RecoverOptions): Promise<number> {
  let count = 0;
  for (const { file, first } of files) {
    const lines = linesOf(file);
    for (;;) {
      const head = (await options.records.audit.head(writer)) ?? { writer, number: -1, hash: "", spooled: first };
      const left = lines.slice(Math.max(0, head.spooled - first));
      if (left.length === 0) break;
      count += await writeSome(head, left, options);
    }
    faultPoint("audit.spool.read");
    rmSync(file, { force: true });
  }
  return count;
}

/** The last line has no end where its process was killed in the middle of it; then nobody was told about it either. */
function linesOf(file: string): readonly string[] {
  try {
    const text = readFileSync(file, "utf8");
    const end = text.lastIndexOf("\n");
    return end === -1 ? [] : wholeLines(text.slice(0, end));
  } catch (error) {
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Nothing is written where another process goes on with the same chain: then its head has moved. */
async function writeSome(from: AuditHead, lines: readonly string[], options: RecoverOptions): Promise<number> {
  const { signer, records, onBlock, beside } = options;
  const entries = lines.map(entryOf);
  const blocks: AuditBlock[] = [];
  const changes: Change[] = [];
  let [head, count] = [from, 0];
  while (count < entries.length && blocks.length < MAX_BLOCKS) {
    const { block, terms } = makeBlock(head, nextOf(entries, count), { signer, fromSpool: true });
    blocks.push(block);
    changes.push({ table: "audit", type: "block", block, terms }, ...(beside?.(block) ?? []));
    head = headOf(block);
    count += block.count;
  }
  if (!(await records.write(changes))) return 0;
  for (const block of blocks) onBlock(block);
  return count;
}
