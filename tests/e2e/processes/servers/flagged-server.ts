/** Runs as long as a file is there, and as the server of examples/hello; without it, it cannot be started. */
import { existsSync } from "node:fs";

const [flag = ""] = process.argv.slice(2);
if (!existsSync(flag)) throw new Error("no flag");
setInterval(() => {
  if (!existsSync(flag)) process.exit(3);
}, 50);
await import(new URL("../../../../examples/hello/server.mjs", import.meta.url).href);
