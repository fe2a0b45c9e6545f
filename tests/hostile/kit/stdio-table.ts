import { fileURLToPath } from "node:url";

export const SCRIPTED_SERVER = fileURLToPath(new URL("../fixtures/scripted-server.mjs", import.meta.url));

/** The table that puts fixtures/scripted-server.mjs behind a gateway. */
export function scriptedServer(id: string, more = ""): string {
  const text = JSON.stringify;
  return `[[servers]]\nid = ${text(id)}\nera = "2025"\ncommand = ${text(process.execPath)}\nargs = [${text(SCRIPTED_SERVER)}]\n${more}\n`;
}
