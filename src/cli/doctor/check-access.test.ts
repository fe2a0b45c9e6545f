import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { obtainConfig } from "../../server/config/index.ts";
import { checkAccess } from "./check-access.ts";

const GRANT = '[[access.grants]]\nagent = "ada"\nserver = "a"\n';

test.each([
  ["a grant", GRANT, "callers were granted something"],
  [
    "opt-out for all",
    '[access]\ndefaultPolicy = "opt-out"\n',
    "whoever is known may use everything but what was denied (opt-out)",
  ],
  [
    "opt-out for one server",
    '[access.servers]\na = "opt-out"\n',
    "whoever is known may use everything of a but what was denied (opt-out)",
  ],
  ["both", `[access]\ndefaultPolicy = "opt-out"\n${GRANT}`, "callers were granted something"],
])("what doctor says of access with %s is why callers may use anything", async (_what, access, found) => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-"));
  try {
    const config = join(folder, "isthmus.toml");
    writeFileSync(config, `[auth]\ntokens = true\n${access}[[servers]]\nid = "a"\ncommand = "a"\n`);
    expect(await checkAccess(obtainConfig({ config }, "program"), config, [])).toEqual([
      { level: "ok", what: "access", found },
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
