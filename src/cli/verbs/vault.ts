import { rotateVaultKeys } from "../../server/governance/vault-settings.ts";
import { Ending } from "../ending.ts";
import { print, printJson } from "../output/console.ts";
import { readOwnConfig } from "../own-config.ts";

export type VaultOptions = { readonly config?: string; readonly json?: boolean };

/** A gateway that runs need not be told: it looks at the file before it writes. */
export async function rotateVault(options: VaultOptions): Promise<void> {
  const { config } = readOwnConfig(options.config === undefined ? {} : { config: options.config });
  const rotated = await rotateVaultKeys(config);
  if ("problem" in rotated) throw new Ending("usage", [rotated.problem]);
  if (options.json) return printJson(rotated);
  print(`${rotated.file} has ${rotated.keys} ${rotated.keys === 1 ? "key" : "keys"}; the newest encrypts from now on.`);
}
