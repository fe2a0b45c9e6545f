/** Pieces of a config that a page shows, without the rest of it: each is taken as it stands there. */

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/server/config/load-config.ts";
import { readConfig } from "../../src/server/config/read-config.ts";
import { readBlocks } from "../e2e/kit/markdown.ts";
import { pathOf } from "../needs/need.ts";
import { openssl } from "../needs/programs.ts";
import { listFiles } from "./repo-files.ts";

/** Blocks with the name of a file are that file, and run with their page. */
const fragments = listFiles("docs", ".md")
  .flatMap((page) => readBlocks(page))
  .filter(({ language, note }) => language === "toml" && note === "");

/** What they refer to. */
const ENV = {
  ISTHMUS_DATABASE: "postgres://user:password@127.0.0.1/name",
  ISTHMUS_SHARED: "rediss://user:password@127.0.0.1:6379",
  CRM_SECRET: "secret",
  COLLECTOR_TOKEN: "Bearer secret",
};
const KEYS = ["cluster.key", "new.key", "old.key"];
/** What a table of a server's stands under. */
const SERVER = '[[servers]]\nid = "crm"\nurl = "https://crm.example.com/mcp"\n';

/** The servers that grants and rules are about. */
const RULED = ["hello", "files"]
  .map((id) => `[[servers]]\nid = "${id}"\nurl = "https://${id}.example.com/mcp"\n`)
  .join("");

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-fragments-"));
  for (const name of KEYS) writeFileSync(join(folder, name), "k".repeat(44), { mode: 0o600 });
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  const made = ["-keyout", "server.key", "-out", "server.crt", "-subj", "/CN=server", "-days", "30"];
  execFileSync(pathOf(openssl), ["req", "-x509", ...curve, ...made], { cwd: folder, stdio: "ignore" });
  copyFileSync(join(folder, "server.crt"), join(folder, "clients-ca.crt"));
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each(fragments.map(({ place, text }) => [place, text]))("%s is taken", (_place, text) => {
  const file = join(folder, "isthmus.toml");
  const above = text.startsWith("[servers.") ? SERVER : /^\[\[access\.(?:grants|rules)\]\]/.test(text) ? RULED : "";
  writeFileSync(file, above + text);
  expect(() => loadConfig(readConfig([file]), { env: ENV })).not.toThrow();
});
