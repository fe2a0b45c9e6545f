import { openConfigFile, textWith, unsetVariables, writeConfigFile } from "../config-file/config-file.ts";
import { type NewServer, type Reference, serverText } from "../config-file/server-text.ts";
import { Ending } from "../ending.ts";
import { idFor } from "../import/import-plan.ts";
import { looksSecret } from "../import/secrets.ts";
import { print, printJson, printText, say } from "../output/console.ts";

export type AddOptions = {
  readonly config?: string;
  readonly url?: string;
  readonly sse?: boolean;
  readonly prefix?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly json?: boolean;
};

/** Adds one server to the config. Throws Ending; nothing has changed then. */
export function add(id: string, words: readonly string[], options: AddOptions): void {
  if (!/^[A-Za-z0-9_-]{1,63}$/.test(id)) {
    throw new Ending("usage", [
      `add: expected an id of at most 63 of the characters A-Z a-z 0-9 _ -, found ${JSON.stringify(id)}; "${idFor(id)}" would do`,
    ]);
  }
  const server = describeServer(id, words, options);
  const file = openConfigFile(options);
  if (file.ids.has(id)) {
    throw new Ending("usage", [`${file.path}: there is a server "${id}" already; take another id, or edit the file`]);
  }
  const text = textWith(file, [server]);
  writeConfigFile(file, text);
  for (const name of unsetVariables([server], file.env))
    say(`set ${name} before the gateway starts; it is not set here`);
  if (options.json) return printJson({ file: file.path, created: file.isNew, server });
  print(`${file.isNew ? "Created" : "Added to"} ${file.path}:`);
  print();
  printText(serverText(server));
}

export function describeServer(id: string, words: readonly string[], options: AddOptions): NewServer {
  const { url = addressIn(words), sse, prefix } = options;
  const [command, ...args] = url === options.url ? words : [];
  if ((command === undefined) === (url === undefined)) {
    throw new Ending("usage", [`add: expected either --url <url>, or "-- <command> <args...>"`]);
  }
  return {
    id,
    ...(sse && { transport: "sse" }),
    ...(command !== undefined && { command, args }),
    ...(url !== undefined && { url }),
    ...(prefix !== undefined && { prefix }),
    env: references("--env", options.env),
    headers: references("--header", options.header),
  };
}

/** An address where the command would stand is meant as `--url`: no program is called so. */
function addressIn([first, ...others]: readonly string[]): string | undefined {
  if (first === undefined || !/^[a-z][a-z0-9+.-]*:\/\//i.test(first)) return undefined;
  if (!/^https?:/i.test(first))
    throw new Ending("usage", [`add: expected an http(s) URL, found ${JSON.stringify(first)}`]);
  if (others.length === 0) return first;
  throw new Ending("usage", [`add: ${first} is an address, and takes no words behind it: found ${others.join(" ")}`]);
}

/** `K=V` is a value, `K` alone the variable of that name. */
function references(option: string, words: readonly string[] = []): Record<string, Reference> {
  const pairs = words.map((word): [string, Reference] => {
    const equals = word.indexOf("=");
    if (equals === 0 || word === "")
      throw new Ending("usage", [`${option}: expected NAME=value or NAME, found "${word}"`]);
    if (equals < 0) return [word, { fromEnv: word }];
    const [key, value] = [word.slice(0, equals), word.slice(equals + 1)];
    if (looksSecret(key, value))
      say(
        `${option} ${key} looks like a secret and is written as it is; ${option} ${key} alone refers to the variable instead`,
      );
    return [key, value];
  });
  return Object.fromEntries(pairs);
}
