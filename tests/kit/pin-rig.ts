/** The pins of one run of a gateway with one server, "files", and what it says about them. */
import { finish, type ListedKind, type Offer, payload, textOf } from "../../src/contract/index.ts";
import { PinFile } from "../../src/mechanisms/pins/pin-file.ts";
import { type PinMode, Pins } from "../../src/mechanisms/pins/pins.ts";
import { ManualTime } from "./manual-time.ts";
import { KeptLog, KeptMeter } from "./quiet.ts";

export type Definition = { readonly name: string } & Readonly<Record<string, unknown>>;

/** A string is a definition as the server spells it. */
export function offered(tools: readonly (Definition | string)[], kind: ListedKind = "tool"): Offer {
  const primitives = tools.map((tool) => {
    const text = typeof tool === "string" ? tool : JSON.stringify(tool);
    const { name } = typeof tool === "string" ? (JSON.parse(tool) as Definition) : tool;
    return { kind, name, definition: payload(textOf(text)), repeatable: false };
  });
  return { kind, primitives, extras: "" };
}

/** `file`: where they are kept; unset: nowhere. */
export function pinRig(options: { mode?: PinMode; file?: string | undefined; now?: number } = {}) {
  const time = new ManualTime();
  const log = new KeptLog();
  const meter = new KeptMeter();
  const state = { mode: options.mode ?? "report", now: options.now ?? Date.parse("2026-01-01T00:00:00Z"), changes: 0 };
  const pins = new Pins({
    log,
    meter,
    timers: time,
    modeOf: () => state.mode,
    now: () => state.now,
    onChange: () => state.changes++,
  });
  if (options.file !== undefined) pins.keepIn(new PinFile(options.file));
  const listOf = (server: string, tools: readonly (Definition | string)[], profile = "", kind?: ListedKind) => {
    const [offer] = finish(pins.screen(server, profile, [offered(tools, kind)]));
    return Object.fromEntries(offer?.pins ?? []);
  };
  const list = (tools: readonly (Definition | string)[], profile = "", kind?: ListedKind) =>
    listOf("files", tools, profile, kind);
  const warnings = () => log.lines.filter(({ level }) => level === "warn");
  return { pins, list, listOf, log, warnings, meter, time, state };
}
