/** Redis and PostgreSQL as a run starts them: on loopback, in a temporary folder, on the load's core. */
import { existsSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { retryUntil } from "../candidates/candidate.ts";
import { startProcess } from "../processes.ts";

export type Store = { url: string; port: number; stop(): Promise<void> };

const READY_LIMIT_MS = 15_000;
const READY_EVERY_MS = 20;

/** Undefined: it is not on this machine. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const places = [...folders, ...(process.env.PATH ?? "").split(delimiter)];
  return places.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

export type StoreRecipe = {
  command: string;
  args: readonly string[];
  port: number;
  url: string;
  directory: string;
  /** Rejects until it serves. */
  greet(): Promise<void>;
};

export async function startStore({ command, args, port, url, directory, greet }: StoreRecipe): Promise<Store> {
  const owned = startProcess({ command, args, core: "load" });
  const stop = async (): Promise<void> => {
    await owned.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await retryUntil(greet, READY_LIMIT_MS, READY_EVERY_MS);
  } catch (error) {
    await stop();
    throw new Error(`${command} did not start: ${owned.output()}`, { cause: error });
  }
  return { url, port, stop };
}
