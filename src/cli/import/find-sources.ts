/** The files that `import` reads: those it was told, or every known one that is there. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import type { Environment } from "../../server/config/index.ts";
import { nearest } from "../../server/config/nearest.ts";
import { readIfThere, type UserFile } from "../config-file/write-atomically.ts";
import { Ending } from "../ending.ts";
import { type ClientDocument, readClientDocument } from "./client-document.ts";
import { CLIENTS, type ClientPlace, clientPlaces } from "./client-files.ts";

export function knownPlaces(env: Environment): ClientPlace[] {
  return clientPlaces({ platform: process.platform, home: homedir(), env, folder: process.cwd() });
}

/** What a word on the command line means: a client, or a file. Without one, every place that is known. */
export function findSources(word: string | undefined, env: Environment): ClientPlace[] {
  const known = knownPlaces(env);
  if (word === undefined) return known;
  if (Object.hasOwn(CLIENTS, word)) return known.filter(({ client }) => client === word);
  const file = resolve(word);
  if (!existsSync(file)) {
    const meant = nearest(word, Object.keys(CLIENTS));
    const hint = meant === undefined ? `a file, or one of ${Object.keys(CLIENTS).join(", ")}` : `"${meant}"`;
    throw new Ending("file", [`${word}: there is no such file; expected ${hint}`]);
  }
  return [known.find((place) => place.file === file) ?? { client: "file", file, isProject: true }];
}

/** Undefined when it is not there, or holds no servers and was not asked for by name. Throws Ending. */
export function readSource(place: ClientPlace, env: Environment, isAsked: boolean): ClientDocument | undefined {
  const bytes = readIfThere(place.file);
  if (bytes === undefined) return undefined;
  const context = { env, home: homedir(), folder: projectFolder(place) };
  try {
    return readClientDocument(bytes.toString("utf8"), context);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (!isAsked && !(error instanceof SyntaxError)) return undefined;
    throw new Ending("file", [
      `${place.file}: ${error instanceof SyntaxError ? `is no JSON, ${error.message}` : error.message}`,
    ]);
  }
}

/** The file as it is written: what a project brings along may be a link that somebody else has made. */
export function userFile(place: ClientPlace): UserFile {
  return { file: place.file, project: place.isProject ? projectFolder(place) : undefined };
}

/** Relative paths of a project's file start in the project, not in its settings folder. */
export function projectFolder({ file, isProject }: ClientPlace): string {
  const folder = dirname(file);
  return isProject && /[/\\]\.(?:vscode|cursor)$/.test(folder) ? dirname(folder) : folder;
}
