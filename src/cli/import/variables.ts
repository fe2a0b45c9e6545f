/**
 * The variables that clients fill in, in our words. In `env` and `headers` a variable stays one, elsewhere one with a default does;
 * of the others there what is known and no secret is filled in, and the rest is told.
 */
import type { Environment } from "../../server/config/index.ts";
import type { Reference } from "../config-file/server-text.ts";
import { looksSecret } from "./secrets.ts";

export type VariableContext = {
  readonly env: Environment;
  /** What `${workspaceFolder}` means, and where relative paths start. */
  readonly folder: string;
  readonly home: string;
  /** Hears what a person has to do. */
  readonly note: (text: string) => void;
  /** What VS Code would ask for, by the id of its input. */
  readonly inputs: ReadonlyMap<string, string>;
};

const VARIABLE = /\$\{([^}]*)\}/g;
const WHOLE = /^\$\{([A-Za-z_]\w*)\}$/;

/** A value of `env` or `headers`. */
export function referenceFor(text: string, context: VariableContext): Reference {
  const ours = text.replace(VARIABLE, (written: string, inside: string) => {
    const [name, fallback] = nameIn(inside);
    const input = /^input:(.+)$/.exec(inside)?.[1];
    if (input !== undefined) return inputReference(input, context);
    if (name === undefined) return fillIn(written, inside, context);
    return fallback === undefined ? `\${${name}}` : `\${${name}:-${fallback}}`;
  });
  const whole = WHOLE.exec(ours)?.[1];
  return whole === undefined ? ours : { fromEnv: whole };
}

function inputReference(id: string, { inputs, note }: VariableContext): string {
  const name = variableName(id);
  const about = inputs.get(id);
  note(`set ${name} before the gateway starts${about ? ` (${about})` : ""}: VS Code asked for it`);
  return `\${${name}}`;
}

/** A command, an argument, a URL or a folder. */
export function textFor(what: string, text: string, context: VariableContext): string {
  return text.replace(VARIABLE, (written: string, inside: string) => {
    const [name, fallback] = nameIn(inside);
    if (name !== undefined && fallback !== undefined) return `\${${name}:-${fallback}}`;
    const value = name === undefined ? undefined : context.env[name];
    if (name !== undefined && value !== undefined && !looksSecret(name, value))
      return frozen(what, written, value, context);
    const filled = fillIn(written, inside, context);
    if (filled === written)
      context.note(`${what} holds ${written}: without a default it is filled in only in env and headers; edit it`);
    return filled;
  });
}

/** What is filled in stays so, whatever the variable becomes. */
function frozen(what: string, written: string, value: string, { note }: VariableContext): string {
  note(`${what} holds ${written}: ${JSON.stringify(value)} stands in its place from now on`);
  return value;
}

/** `NAME`, `env:NAME`, `NAME:-default`. */
function nameIn(inside: string): [name: string | undefined, fallback: string | undefined] {
  const [, name, fallback] = /^(?:env:)?([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside) ?? [];
  return FOLDERS.has(inside) ? [undefined, undefined] : [name, fallback];
}

const FOLDERS: ReadonlySet<string> = new Set(["workspaceFolder", "userHome", "pathSeparator"]);

function fillIn(written: string, inside: string, { folder, home }: VariableContext): string {
  if (inside === "workspaceFolder") return folder;
  if (inside === "userHome") return home;
  return inside === "pathSeparator" || inside === "/" ? "/" : written;
}

function variableName(id: string): string {
  const name = id.replace(/\W+/g, "_").toUpperCase();
  return /^\d/.test(name) ? `_${name}` : name;
}
