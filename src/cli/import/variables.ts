/**
 * The variables that clients fill in, in our words. In `env` and `headers` a variable stays a reference; elsewhere there
 * are none, so what is known and no secret is filled in, and the rest is told.
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
    return fallback !== undefined && context.env[name] === undefined ? fallback : `\${${name}}`;
  });
  const whole = WHOLE.exec(ours)?.[1];
  return whole === undefined ? ours : { fromEnv: whole };
}

function inputReference(id: string, { inputs, note }: VariableContext): string {
  const name = variableName(id);
  const about = inputs.get(id);
  note(`set ${name} before the gateway starts${about === undefined ? "" : ` (${about})`}: VS Code asked for it`);
  return `\${${name}}`;
}

/** A command, an argument, a URL or a folder. */
export function textFor(what: string, text: string, context: VariableContext): string {
  return text.replace(VARIABLE, (written: string, inside: string) => {
    const [name, fallback] = nameIn(inside);
    const value = name === undefined ? undefined : context.env[name];
    if (name !== undefined && value !== undefined && !looksSecret(name, value)) return value;
    if (fallback !== undefined) return fallback;
    const filled = fillIn(written, inside, context);
    if (filled === written)
      context.note(`${what} holds ${written}, which is filled in only in env and headers; edit it`);
    return filled;
  });
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
