/** A trail, from the store or from a file that it was exported to, through the verifier. */
import { type AuditRows, LongLine, linesOf, refuseRepeatedKeys } from "../../contract/index.ts";
import { keyringOf } from "./signing.ts";
import { type TrailItem, walkTrail } from "./trail-pages.ts";
import { type KnownCheckpoint, type TrailProblem, type TrailReport, TrailVerifier } from "./trail-verifier.ts";

export type VerifyOptions = {
  /** PEM, of the keys that are trusted. */
  readonly keys: readonly string[];
  readonly known?: readonly KnownCheckpoint[] | undefined;
};

export async function verifyRows(rows: AuditRows, options: VerifyOptions): Promise<TrailReport> {
  const verifier = new TrailVerifier(keyringOf(options.keys), options.known);
  let count = 0;
  for await (const item of walkTrail(rows)) {
    give(verifier, item);
    // A store that answers at once would keep everybody else waiting until the end.
    if (++count % BREATH === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return verifier.end();
}

const BREATH = 16;

export type TrailHeader = { readonly kind: "trail"; readonly version: 1; readonly keys: readonly string[] };
export type TrailFooter = { readonly kind: "end"; readonly items: number };

/** The lines of an export: a header, everything, and how much that was. */
export async function* exportLines(rows: AuditRows, keys: readonly string[]): AsyncGenerator<string> {
  const header: TrailHeader = { kind: "trail", version: 1, keys };
  yield JSON.stringify(header);
  let items = 0;
  for await (const item of walkTrail(rows)) {
    items++;
    yield JSON.stringify(item);
  }
  const footer: TrailFooter = { kind: "end", items };
  yield JSON.stringify(footer);
}

/** In characters. The lines of blocks and checkpoints are far shorter. */
export const MAX_LINE = 64 * 1024 * 1024;

/** The lines of a file for `verifyLines`; undefined: one that is too long, and the last that is read. */
export async function* trailLines(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<string | undefined> {
  try {
    yield* linesOf(input, MAX_LINE);
  } catch (error) {
    if (!(error instanceof LongLine)) throw error;
    yield undefined;
  }
}

export type FileReport = TrailReport & { readonly keysFrom: "given" | "file" };

/** Without keys of the caller's own those in the file are used: then whoever wrote the file may have made them. */
export async function verifyLines(
  lines: AsyncIterable<string | undefined>,
  given: readonly string[],
  known?: KnownCheckpoint,
): Promise<FileReport> {
  let verifier: TrailVerifier | undefined;
  let [items, number, isEnded] = [0, 0, false];
  const problems: TrailProblem[] = [];
  const tell = (text: string) => problems.push({ what: "altered", text: `line ${number}: ${text}` });
  for await (const line of lines) {
    number++;
    const item = line === undefined ? undefined : parsed(line);
    if (item?.kind === "trail" && number === 1)
      verifier = new TrailVerifier(keyringOf(given.length > 0 ? given : item.keys), known ? [known] : []);
    else if (item?.kind === "end" && !isEnded) {
      isEnded = true;
      if (item.items !== items)
        tell(`the file was made of ${item.items} lines between the first and the last, and has ${items}`);
    } else if (verifier && item && item.kind !== "trail" && item.kind !== "end" && !isEnded) {
      items++;
      give(verifier, item);
    } else tell(`is ${line === undefined ? "longer than any" : "no"} line of an exported trail`);
    if (problems.length > MAX_BAD_LINES) break;
  }
  if (!isEnded)
    problems.push({ what: "missing", text: "the last line of the export is missing: the file was cut off" });
  const report = (verifier ?? new TrailVerifier(new Map())).end();
  const found = [...report.problems, ...problems];
  return { ...report, problems: found, isIntact: found.length === 0, keysFrom: given.length > 0 ? "given" : "file" };
}

const MAX_BAD_LINES = 100;

function give(verifier: TrailVerifier, item: TrailItem): void {
  if (item.kind === "checkpoint") verifier.checkpoint(item);
  else if (item.kind === "later") verifier.later(item);
  else if (item.kind === "head") verifier.head(item);
  else verifier.block(item);
}

const CHECKPOINT = { number: "number", at: "number", text: "string", signature: "string" } as const;

const FIELDS: Readonly<Record<string, Readonly<Record<string, "string" | "number" | "object">>>> = {
  checkpoint: CHECKPOINT,
  later: CHECKPOINT,
  head: { writer: "string", number: "number", hash: "string", spooled: "number" },
  block: {
    ...{ writer: "string", number: "number", count: "number", spooled: "number", at: "number", until: "number" },
    ...{ previous: "string", hash: "string", signature: "string", marks: "string", lines: "string" },
  },
  trail: { version: "number", keys: "object" },
  end: { items: "number" },
};

function parsed(line: string): TrailItem | TrailHeader | TrailFooter | undefined {
  try {
    refuseRepeatedKeys(line);
    const item: unknown = JSON.parse(line);
    return isExported(item) ? item : undefined;
  } catch {
    return undefined;
  }
}

/** Only what an export writes: of two equal keys, and of keys that nothing here reads, other readers could show the forged one. */
function isExported(item: unknown): item is TrailItem | TrailHeader | TrailFooter {
  if (typeof item !== "object" || item === null) return false;
  const { kind, ...members }: Record<string, unknown> = { ...item };
  const fields = Object.entries(FIELDS[String(kind)] ?? {});
  const isWhole = fields.length > 0 && fields.every(([name, type]) => typeof members[name] === type);
  const isMore = Object.keys(members).length > fields.length;
  const { keys } = members;
  const hasKeys = kind !== "trail" || (Array.isArray(keys) && keys.every((key) => typeof key === "string"));
  return isWhole && !isMore && hasKeys;
}
