/** Where MCP clients keep their servers, on each platform. */
import { join } from "node:path";
import type { Environment } from "../../server/config/index.ts";

export type Places = {
  readonly platform: string;
  readonly home: string;
  readonly env: Environment;
  /** The project: where the program runs. */
  readonly folder: string;
};

export type ClientPlace = {
  readonly client: string;
  readonly file: string;
  /** It belongs to a project: relative paths in it start in the project's folder. */
  readonly isProject: boolean;
};

/** What may be written on the command line, and what it stands for. */
export const CLIENTS = {
  claude: "Claude Desktop",
  "claude-code": "Claude Code",
  cursor: "Cursor",
  vscode: "VS Code",
  windsurf: "Windsurf",
  cline: "Cline",
  gemini: "Gemini CLI",
  lmstudio: "LM Studio",
} as const satisfies Record<string, string>;

type ClientName = keyof typeof CLIENTS;

/** Every place that is known, a project's own first. */
export function clientPlaces(places: Places): ClientPlace[] {
  const { home, folder } = places;
  const applications = applicationFolder(places);
  const code = join(applications, "Code", "User");
  const project = (client: ClientName, ...path: string[]) => ({ client, file: join(folder, ...path), isProject: true });
  const own = (client: ClientName, ...path: string[]) => ({ client, file: join(...path), isProject: false });
  return [
    project("claude-code", ".mcp.json"),
    project("cursor", ".cursor", "mcp.json"),
    project("vscode", ".vscode", "mcp.json"),
    own("claude", applications, "Claude", "claude_desktop_config.json"),
    own("claude-code", home, ".claude.json"),
    own("cursor", home, ".cursor", "mcp.json"),
    own("vscode", code, "mcp.json"),
    own("windsurf", home, ".codeium", "windsurf", "mcp_config.json"),
    own("cline", code, "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json"),
    own("gemini", home, ".gemini", "settings.json"),
    own("lmstudio", home, ".lmstudio", "mcp.json"),
  ];
}

function applicationFolder({ platform, home, env }: Places): string {
  if (platform === "darwin") return join(home, "Library", "Application Support");
  if (platform === "win32") return env.APPDATA ?? join(home, "AppData", "Roaming");
  return env.XDG_CONFIG_HOME || join(home, ".config");
}
