/** A `[[servers]]` table as text, and a config with one more of them. What stands there already is not touched. */

export type Reference = string | { readonly fromEnv: string } | { readonly fromFile: string };

/** What `add` and `import` can say about a server. */
export type NewServer = {
  readonly id: string;
  readonly transport?: "sse";
  readonly command?: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly url?: string;
  readonly prefix?: string;
  readonly env?: Readonly<Record<string, Reference>>;
  readonly headers?: Readonly<Record<string, Reference>>;
};

const FIELDS = ["id", "transport", "command", "args", "cwd", "url", "prefix"] as const;
const TABLES = ["env", "headers"] as const;

export function serverText(server: NewServer): string {
  const lines = ["[[servers]]"];
  for (const field of FIELDS) {
    const value = server[field];
    if (value !== undefined && value.length + (field === "prefix" ? 1 : 0) > 0)
      lines.push(`${field} = ${valueText(value)}`);
  }
  for (const table of TABLES) {
    const entries = Object.entries(server[table] ?? {});
    if (entries.length === 0) continue;
    lines.push(`[servers.${table}]`);
    for (const [key, value] of entries) lines.push(`${keyText(key)} = ${referenceText(value)}`);
  }
  return `${lines.join("\n")}\n`;
}

/** `text` may be empty. Line ends stay of one kind. */
export function appendServers(text: string, servers: readonly NewServer[]): string {
  const added = servers.map(serverText).join("\n");
  const isWindows = text.includes("\r\n");
  const end = isWindows ? "\r\n" : "\n";
  const before = text === "" ? "" : `${text}${text.endsWith("\n") ? "" : end}${/(?:^|\n)\r?\n$/.test(text) ? "" : end}`;
  return before + (isWindows ? added.replaceAll("\n", end) : added);
}

function valueText(value: string | readonly string[]): string {
  return typeof value === "string" ? stringText(value) : `[${value.map(stringText).join(", ")}]`;
}

function referenceText(value: Reference): string {
  if (typeof value === "string") return stringText(value);
  const [[key, name] = ["", ""]] = Object.entries(value);
  return `{ ${key} = ${stringText(name)} }`;
}

function keyText(key: string): string {
  return /^[\w-]+$/.test(key) ? key : stringText(key);
}

// JSON's strings are TOML's, but for one control character, and for halves of characters.
function stringText(text: string): string {
  return JSON.stringify(text.toWellFormed()).replaceAll("\u007f", "\\u007f");
}
