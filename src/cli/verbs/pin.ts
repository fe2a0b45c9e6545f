import type { PinPlace } from "../../server/config/index.ts";
import { acceptPins, inspectPins, PinFileFault, type PinnedTool, type PinReport } from "../../server/pin-file-of.ts";
import { decidersTerminal, makeSure } from "../client/make-sure.ts";
import { Ending } from "../ending.ts";
import { print, printJson, say, tableWidth } from "../output/console.ts";
import { pinDiffLines } from "../output/pin-diff.ts";
import { tableLines } from "../output/table.ts";
import { readPinPlace } from "../own-config.ts";
import { PROGRAM } from "../program-name.ts";

export type PinOptions = {
  readonly config?: string;
  readonly all?: boolean;
  readonly json?: boolean;
  readonly digest?: string;
  readonly yes?: boolean;
};

/** Shows what has changed, or accepts it. A gateway that runs need not: it reads the file when it is written. */
export async function pin(
  action: "list" | "diff" | "accept",
  name: string | undefined,
  options: PinOptions,
): Promise<void> {
  const place = readPinPlace(options);
  const report = inspectPins(place);
  if (!report) throw new Ending("usage", [`without a config nothing is remembered; "${PROGRAM} add" makes one`]);
  if (report.problem !== undefined) throw new Ending("file", [report.problem]);
  if (action === "list") return showPins(report, options);
  if (action === "diff") return showDifferences(report, name, options);
  const chosen = choose(report, name, options);
  await agree(chosen, options);
  const missed = await accept(place, chosen);
  const accepted = chosen.filter((one) => !missed.includes(one));
  if (options.json) printJson({ accepted: accepted.map(({ name: shown, kind }) => ({ kind, name: shown })) });
  else for (const { name: shown } of accepted) print(`accepted ${shown}`);
  if (missed.length > 0) throw new Ending("failure", missed.map(changedAgain));
  if (chosen.length === 0 && !options.json) print("Nothing has changed.");
}

/** Nothing is accepted that nobody was shown: here and now, or before, by its digest. Throws Ending. */
async function agree(chosen: readonly PinnedTool[], { digest, yes, json }: PinOptions): Promise<void> {
  if (chosen.length === 0 || digest !== undefined) return;
  for (const line of chosen.flatMap(pinDiffLines)) (json ? say : print)(line);
  if (yes) return;
  const terminal = decidersTerminal();
  if (!terminal) {
    const how = "without a terminal say what you have seen with --digest, or take whatever it is now with --yes";
    throw new Ending("usage", [`nothing was accepted: ${how}`]);
  }
  await makeSure("accept this?", terminal, "nothing was accepted");
}

/** Those that have changed again. Throws Ending. */
async function accept(place: PinPlace, chosen: readonly PinnedTool[]): Promise<readonly PinnedTool[]> {
  try {
    return await acceptPins(place, chosen);
  } catch (error) {
    if (error instanceof PinFileFault) throw new Ending("file", [error.message]);
    throw error;
  }
}

function changedAgain({ name }: Pick<PinnedTool, "name">): string {
  return `${name} is not what was shown any more, and was not accepted; "${PROGRAM} pin diff" shows what it is now`;
}

/** What it was and what it is now, line by line: what somebody must see before they accept it. */
function showDifferences({ pins }: PinReport, name: string | undefined, { json }: PinOptions): void {
  const chosen = name === undefined ? pins.filter(hasChanged) : named(pins, name);
  if (json) return printJson({ pins: chosen });
  if (chosen.length === 0) return print("Nothing has changed.");
  for (const line of chosen.flatMap(pinDiffLines)) print(line);
}

function choose({ pins }: PinReport, name: string | undefined, { all, digest }: PinOptions): readonly PinnedTool[] {
  if (digest !== undefined && name === undefined) throw new Ending("usage", ["--digest is for one name"]);
  if ((name === undefined) === (all !== true)) {
    throw new Ending("usage", [`say what to accept: a name that "${PROGRAM} pin list" shows, or --all`]);
  }
  if (name === undefined) return pins.filter(hasChanged);
  const found = named(pins, name);
  if (digest === undefined) return found;
  const shown = found.filter((one) => one.digest === digest);
  if (shown.length === 0) throw new Ending("failure", [changedAgain({ name })]);
  return shown;
}

/** Those of this name that have changed. Throws Ending where there are none. */
function named(pins: readonly PinnedTool[], name: string): readonly PinnedTool[] {
  const changed = pins.filter(hasChanged);
  const isMeant = ({ name: shown, server, own }: PinnedTool) => shown === name || `${server}.${own}` === name;
  const found = changed.filter(isMeant);
  if (found.length > 0) return found;
  const why = pins.some(isMeant) ? "has not changed" : "is not pinned";
  throw new Ending("usage", [`${JSON.stringify(name)} ${why}; "${PROGRAM} pin list --all" shows what is`]);
}

function showPins({ file, pins }: PinReport, { all, json }: PinOptions): void {
  const changed = pins.filter(hasChanged);
  const shown = all ? pins : changed;
  if (json) return printJson({ file, pinned: pins.length, changed: changed.length, pins: shown });
  const rows = shown.map((one) => [one.name, one.server, statusOf(one), changesText(one)]);
  if (rows.length > 0)
    for (const line of tableLines([["NAME", "SERVER", "STATUS", "WHAT"], ...rows], { width: tableWidth() }))
      print(line);
  print(`${pins.length} pinned, ${changed.length} changed.`);
}

function hasChanged({ changes }: PinnedTool): boolean {
  return changes.length > 0;
}

function statusOf(one: PinnedTool): string {
  if (!hasChanged(one)) return "as pinned";
  return one.mode === "block" ? "held back" : one.mode === "off" ? "changed (off)" : "changed";
}

function changesText({ changes, since }: PinnedTool): string {
  const last = changes.at(-1);
  if (!last) return `since ${since}`;
  const was = last.was === undefined ? "" : ` (was ${last.was})`;
  return `${last.what.join(", ")}${was} since ${last.since}`;
}
