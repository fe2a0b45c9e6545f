/** Which file a secret goes to: no two go to one, and none to a file of somebody else. */
import { STATE_FOLDER } from "../../contract/index.ts";

/** Beside the config; a folder for each server in it. */
export const SECRET_FOLDER = `${STATE_FOLDER}/secrets`;

const MAX_NAME = 64;

/** Where a value is to go, from the folder of the config on. */
export type TakeSecretPath = (id: string, key: string, value: string) => string;

/** Of one import: what was given once is not given again. */
export class SecretPaths {
  /** Whether nothing is there, or just this. */
  readonly #isFree: (path: string, value: string) => boolean;
  /** In lower case: where case means nothing, two names are one file. */
  readonly #given = new Set<string>();

  constructor(isFree: (path: string, value: string) => boolean) {
    this.#isFree = isFree;
  }

  readonly take: TakeSecretPath = (id, key, value) => {
    const wanted = `${SECRET_FOLDER}/${id}/${key.replace(/[^\w-]+/g, "_").slice(0, MAX_NAME) || "value"}`;
    let path = wanted;
    // No name of a key has a dot here, so none looks like one with a number.
    for (let number = 2; this.#given.has(path.toLowerCase()) || !this.#isFree(path, value); number++)
      path = `${wanted}.${number}`;
    this.#given.add(path.toLowerCase());
    return path;
  };
}
