/** The audit trail as it is in the store at the end, read and verified by the program's own verbs. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { wholeLines } from "../../../src/mechanisms/audit/index.ts";
import { ownEnvironment } from "../../kit/own-home.ts";
import { type Fleet, PROGRAM } from "../gateways.ts";

const run = promisify(execFile);

export type TrailEvent = {
  readonly timestamp: string;
  readonly trace_id: string;
  readonly event_type: string;
  readonly result: string;
  readonly actor: { readonly id: string };
  readonly target: { readonly server_id: string; readonly tool_name: string };
  readonly details: Readonly<Record<string, unknown>> & { readonly id: string; readonly attempt?: number };
};

export type TrailReading = {
  readonly isIntact: boolean;
  readonly said: string;
  readonly events: readonly TrailEvent[];
};

/** Every gateway is killed once more, and its next life reads what it left: then nothing may be missing. */
export async function lastTrail(fleet: Fleet): Promise<TrailReading> {
  const places = [...fleet.ports.keys()];
  await Promise.all(places.map((index) => fleet.kill(index)));
  await Promise.all(places.map((index) => fleet.start(index)));
  return await readTrail(fleet.folder(0));
}

/** `folder`: of a gateway, with its config. */
async function readTrail(folder: string): Promise<TrailReading> {
  const verb = (...words: string[]) =>
    run(process.execPath, [PROGRAM, "audit", ...words, "--config", "isthmus.toml"], {
      cwd: folder,
      env: ownEnvironment(),
    });
  const { isIntact, said } = await verb("verify").then(
    ({ stdout }) => ({ isIntact: true, said: stdout }),
    (error: { stdout?: string; stderr?: string }) => ({ isIntact: false, said: `${error.stdout}${error.stderr}` }),
  );
  const file = join(folder, "trail.jsonl");
  await verb("export", file);
  const events = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.startsWith('{"kind":"block"'))
    .flatMap((line) => wholeLines((JSON.parse(line) as { lines: string }).lines))
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TrailEvent);
  return { isIntact, said, events };
}
