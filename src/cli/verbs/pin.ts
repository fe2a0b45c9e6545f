import { acceptPins, inspectPins, PinFileFault, type PinnedTool, type PinReport } from "../../server/pin-file-of.ts";
import { Ending } from "../ending.ts";
import { outputWidth, print, printJson } from "../output/console.ts";
import { tableLines } from "../output/table.ts";
import { readOwnConfig } from "../own-config.ts";

export type PinOptions = { readonly config?: string; readonly all?: boolean; readonly json?: boolean };

/** Shows what has changed, or accepts it. A gateway that runs need not: it reads the file when it is written. */
export async function pin(action: "list" | "accept", name: string | undefined, options: PinOptions): Promise<void> {
  const { config } = readOwnConfig(options.config === undefined ? {} : { config: options.config });
  const report = inspectPins(config);
  if (!report) throw new Ending("usage", ['without a config nothing is remembered; "isthmus add" makes one']);
  if (report.problem !== undefined) throw new Ending("file", [report.problem]);
  if (action === "list") return showPins(report, options);
  const chosen = choose(report, name, options);
  try {
    await acceptPins(config, chosen);
  } catch (error) {
    if (error instanceof PinFileFault) throw new Ending("file", [error.message]);
    throw error;
  }
  if (options.json) return printJson({ accepted: chosen.map(({ name: shown, kind }) => ({ kind, name: shown })) });
  for (const { name: shown } of chosen) print(`accepted ${shown}`);
  if (chosen.length === 0) print("Nothing has changed.");
}

function choose({ pins }: PinReport, name: string | undefined, { all }: PinOptions): readonly PinnedTool[] {
  const changed = pins.filter(hasChanged);
  if ((name === undefined) === (all !== true)) {
    throw new Ending("usage", ['say what to accept: a name that "isthmus pin list" shows, or --all']);
  }
  if (name === undefined) return changed;
  const isMeant = ({ name: shown, server, own }: PinnedTool) => shown === name || `${server}.${own}` === name;
  const found = changed.filter(isMeant);
  if (found.length > 0) return found;
  const why = pins.some(isMeant) ? "has not changed" : "is not pinned";
  throw new Ending("usage", [`${JSON.stringify(name)} ${why}; "isthmus pin list --all" shows what is`]);
}

function showPins({ file, pins }: PinReport, { all, json }: PinOptions): void {
  const changed = pins.filter(hasChanged);
  const shown = all ? pins : changed;
  if (json) return printJson({ file, pinned: pins.length, changed: changed.length, pins: shown });
  const rows = shown.map((one) => [one.name, one.server, statusOf(one), changesText(one)]);
  if (rows.length > 0)
    for (const line of tableLines([["NAME", "SERVER", "STATUS", "WHAT"], ...rows], { width: outputWidth() }))
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
