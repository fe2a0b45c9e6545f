/**
 * The word by which whoever runs a gateway is known to it: made with the first start, in a file that only they can read. Without
 * `[auth]` every agent is the local user, and with it nobody has a token at first; this word is what no agent is told.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { makePrivateFile, makePrivateFolder } from "../../contract/index.ts";
import { inspectFile, type Owner } from "../../server/file-owners.ts";
import { ownUser } from "../../server/private-files.ts";
import { Ending } from "../ending.ts";

const PREFIX = "isop_";
const TOKEN_BYTES = 32;
const TOKEN = /^isop_[\w-]{43}$/;

export function operatorTokenFile(): string {
  return join(homedir(), ".config", "isthmus", "operator.token");
}

/** The one that is there, else a new one. Throws Ending. */
export function makeOperatorToken(file = operatorTokenFile()): string {
  const token = PREFIX + randomBytes(TOKEN_BYTES).toString("base64url");
  try {
    makePrivateFolder(dirname(file));
    makePrivateFile(file, `${token}\n`);
    return token;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST") throw new Ending("file", [`${file}: cannot be written (${code})`]);
    return readOperatorToken(file) ?? token;
  }
}

/** Undefined: there is none. Throws Ending. */
export function readOperatorToken(file = operatorTokenFile(), reader = ownUser()): string | undefined {
  const seen = lookAtToken(file, reader);
  if (typeof seen === "object") throw new Ending("file", [`${seen.found}; ${seen.advice}`]);
  return seen;
}

/** Why it is not taken, and what to do about it; undefined where it is, or there is none. */
export function operatorTokenFault(file = operatorTokenFile(), reader = ownUser()): TokenFault | undefined {
  const seen = lookAtToken(file, reader);
  return typeof seen === "object" ? seen : undefined;
}

type TokenFault = { readonly found: string; readonly advice: string };

const MAKE_ANOTHER = "remove it, and a new one is made";

function lookAtToken(file: string, reader: Owner | undefined): string | TokenFault | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    return { found: `${file}: cannot be read (${code})`, advice: "let its user read it" };
  }
  const { mode } = statSync(file);
  const deeds = [(mode & 0o044) !== 0 && "read", (mode & 0o022) !== 0 && "change"].filter(Boolean).join(" and ");
  if (process.platform !== "win32" && deeds !== "")
    return { found: `${file}: others can ${deeds} this token`, advice: MAKE_ANOTHER };
  const fault = reader && openToOthers(file, reader);
  if (fault) return fault;
  return TOKEN.test(text) ? text : { found: `${file}: is no token`, advice: MAKE_ANOTHER };
}

/** Whoever else can write the file or its folder could have put a word there that they know. */
function openToOthers(file: string, reader: Owner): TokenFault | undefined {
  // Root may work for the user whose file it is.
  const owner = reader.uid === 0 ? statSync(file) : reader;
  const [found] = [
    ...inspectFile({ file, holds: "key" }, owner),
    ...inspectFile({ file: dirname(file), holds: "trust" }, owner),
  ];
  return found && { found: `${found.file}: ${found.found}`, advice: `run: ${found.fix}` };
}
