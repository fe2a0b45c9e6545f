/** What somebody does who has the database, the log or an account on the machine, and none of the keys. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Workspace } from "../e2e/identity/workspace.ts";
import { helloServer, startGateway } from "../e2e/kit/gateway.ts";
import { ROOT, runProgram } from "../e2e/kit/program.ts";
import { toolCall } from "../e2e/kit/rpc.ts";
import { describeAttacks, describeThree, startThree } from "./kit/describe-attacks.ts";
import type { Field } from "./kit/field.ts";
import { cutBackTo, newestCheckpoint, openTables } from "./kit/kept-trail.ts";

const AUDITED = `[auth]\ntokens = true\n[access]\ndefaultPolicy = "opt-out"\n[audit]\n${helloServer()}`;
/** Each is made by a process of its own, which ends with a checkpoint. */
const TOKENS = { ann: ["--user", "ann"], bob: ["--user", "bob"], root: ["--user", "root", "--role", "admin"] };

const CUTS: readonly (readonly [string, (newest: number) => number])[] = [
  ["by one checkpoint", (newest) => newest - 1],
  ["to its first checkpoint", () => 1],
  ["to nothing", () => 0],
];

describe("a trail in one process", () => {
  test.each(CUTS)("that is cut back %s does not verify, and every start says so", async (_, target) => {
    await using place = new Workspace(AUDITED);
    for (const args of Object.values(TOKENS)) await place.createToken(...args);
    expect(await place.run(["audit", "verify"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^intact/) });
    const tables = await openTables({ file: join(place.folder, ".isthmus/isthmus.db") });
    await cutBackTo(tables, target(await newestCheckpoint(tables)));
    await tables.close();
    const { code, stdout } = await place.run(["audit", "verify"]);
    expect(stdout).toMatch(/audit-checkpoint\.json, is missing: the trail was cut back/);
    expect(code).toBe(11);
    const origin = await place.up("127.0.0.1:0");
    expect(place.log).toContain("the audit trail was cut back");
    expect((await fetch(`${origin}/readyz`)).status).toBe(200);
  });
});

describeThree("a trail", () => {
  let field: Field;
  beforeAll(async () => {
    field = await startThree({ config: AUDITED, tokens: TOKENS });
  });
  afterAll(() => field?.[Symbol.asyncDispose]());

  const verified = async () =>
    await Promise.all(
      field.origins.map(async (origin) => {
        const headers = { authorization: `Bearer ${field.tokens.root}` };
        return (await (await fetch(`${origin}/api/audit/verify`, { headers })).json()) as { isIntact: boolean };
      }),
    );

  test("is whole as it was written", async () => {
    expect((await verified()).map(({ isIntact }) => isIntact)).toEqual([true, true, true]);
  });

  test.each(CUTS)("that is cut back %s verifies in none of them", async (_, target) => {
    const [url = ""] = /postgres:\/\/[^"]+/.exec(readFileSync(join(field.folder(0), "isthmus.toml"), "utf8")) ?? [];
    const tables = await openTables({ url });
    await cutBackTo(tables, target(await newestCheckpoint(tables)));
    await tables.close();
    for (const report of await verified()) {
      expect(report.isIntact).toBe(false);
      expect(JSON.stringify(report)).toMatch(/audit-checkpoint\.json, is missing: the trail was cut back/);
    }
  });

  test("is said by the processes that run to be cut back", async () => {
    await vi.waitFor(() => expect(field.log().match(/the audit trail was cut back/g)).toHaveLength(3), {
      timeout: 20_000,
    });
  });
});

const SECRETS = { referred: 'plan+ted/"referred"=5f1c9876', written: "planted-written-77b0a1d2" };
const secrets = mkdtempSync(join(tmpdir(), "isthmus-attack-secrets-"));
afterAll(() => rmSync(secrets, { recursive: true, force: true }));
const secretFile = join(secrets, "key");
writeFileSync(secretFile, SECRETS.referred, { mode: 0o600 });

const LEAKY = `[auth]
tokens = true
[access]
defaultPolicy = "opt-out"
[[servers]]
id = "leaky"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(join(ROOT, "tests/attacks/parts/leaky-server.mjs"))}]
env = { KEY = { fromFile = ${JSON.stringify(secretFile)} }, WRITTEN_TOKEN = "${SECRETS.written}" }
`;

const escapedLetter = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** However somebody may look for it: plain, in JSON and in JSON of that, escaped, in base64 from each place on, in hex. */
function spellings(secret: string): string[] {
  const middle = secret.slice(3, -3);
  const encoded = [0, 1, 2].map((at) => Buffer.from(middle.slice(at)).toString("base64").slice(0, 12));
  const hex = Buffer.from(middle).toString("hex");
  const json = JSON.stringify(middle).slice(1, -1);
  const again = JSON.stringify(json).slice(1, -1);
  const letters = [/./gs, /[^ -~]|[&+@]/g].map((some) => json.replace(some, escapedLetter).replaceAll("/", "\\/"));
  const url = encodeURIComponent(middle);
  return [secret, middle, json, again, ...letters, url, encodeURIComponent(url), encodeURI(middle), hex, ...encoded];
}

describeAttacks("what a child writes", { config: LEAKY, gateway: 'logLevel = "debug"', tokens: TOKENS }, (field) => {
  const noSecret = () => {
    // As they stand in the lines, and as they were before they were put into JSON; also over two lines.
    const log = field.log();
    const lines = [...log.matchAll(/"line":("(?:[^"\\]|\\.)*")/g)].map(([, text = '""']) => JSON.parse(text) as string);
    expect(lines.length).toBeGreaterThan(0);
    for (const text of [log, lines.join("\n"), lines.join("")]) {
      for (const spelling of Object.values(SECRETS).flatMap(spellings)) expect(text).not.toContain(spelling);
    }
  };

  test("as it starts has no secret in the log", async () => {
    await vi.waitFor(() => expect(field.log()).toContain('"line":"leaked"'), { timeout: 20_000 });
    expect(field.log()).toContain("login with [secret] failed");
    noSecret();
  });

  test("in pieces has none", async () => {
    await field.rpc(toolCall(1, "leaky.leak", {}), { as: "ann" });
    await vi.waitFor(() => expect(field.log().match(/"dripped \[secret\]"/g)?.length).toBeGreaterThanOrEqual(2), {
      timeout: 30_000,
    });
    noSecret();
  });

  test("when it dies in the middle of it has none, in the log, in the answer or in the API", async () => {
    const { messages } = await field.rpc(toolCall(2, "leaky.die", {}), { as: "ann" });
    await vi.waitFor(() => expect(field.log()).toMatch(/last words: \[secret\]/), { timeout: 30_000 });
    const servers = await field.api("GET", "/api/servers", undefined, { as: "root" });
    for (const shown of [JSON.stringify(messages), servers.text]) {
      for (const spelling of Object.values(SECRETS).flatMap(spellings)) expect(shown).not.toContain(spelling);
    }
    noSecret();
  });
});

describeAttacks("files", { config: AUDITED, tokens: TOKENS }, (field) => {
  const folders = () => Array.from({ length: field.processes }, (_, at) => field.folder(at));
  const config = (folder: string) => ["--config", join(folder, "isthmus.toml")];

  /** Makes a file of the state folder what `open` makes it, and starts a gateway and doctor there. */
  async function attempts(open: (state: string) => () => void, check: (state: string, said: string) => void) {
    for (const folder of folders()) {
      const state = join(folder, ".isthmus");
      const close = open(state);
      try {
        const started = await runProgram(["up", "--listen", "127.0.0.1:0", ...config(folder)]);
        expect(started.code).toBe(9);
        check(state, started.stderr);
        const looked = await runProgram(["doctor", "--json", "--timeout", "1ms", ...config(folder)]);
        expect(looked.code).toBe(8);
        check(state, looked.stdout);
      } finally {
        close();
      }
    }
  }

  /** A key that is not there otherwise, or beside the one that is. */
  function key(state: string, name: string, make: (file: string) => void): () => void {
    const file = join(state, name);
    const aside = `${file}.aside`;
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const isThere = existsSync(file);
    if (isThere) renameSync(file, aside);
    make(file);
    return () => {
      rmSync(file, { force: true });
      if (isThere) renameSync(aside, file);
    };
  }

  test.each([
    ["a key of the vault that everybody can read", "vault.keys", 0o644],
    ["a key of the trail that everybody can write", "audit-key.pem", 0o622],
    ["a key of the vault that its group can write", "vault.keys", 0o660],
  ])("with %s no process starts, and is told what to run", async (_, name, mode) => {
    await attempts(
      (state) =>
        key(state, name, (file) => {
          writeFileSync(file, "x");
          chmodSync(file, mode);
          // A group that is not the user's own.
          if (process.getuid?.() === 0) chownSync(file, 0, 4321);
        }),
      (state, said) => expect(said).toContain(`chmod 600 ${join(state, name)}`),
    );
  });

  test("behind a link a key is the same, and so is where it lies", async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), "isthmus-attack-open-"));
    chmodSync(elsewhere, 0o777);
    writeFileSync(join(elsewhere, "key"), "x", { mode: 0o600 });
    await attempts(
      (state) => key(state, "vault.keys", (file) => symlinkSync(join(elsewhere, "key"), file)),
      (_, said) => expect(said).toContain(`chmod o-w ${elsewhere}`),
    );
    rmSync(elsewhere, { recursive: true });
  });

  test("a state folder that everybody can write is refused", async () => {
    await attempts(
      (state) => {
        mkdirSync(state, { recursive: true });
        chmodSync(state, 0o777);
        return () => chmodSync(state, 0o700);
      },
      (state, said) => expect(said).toContain(`chmod 700 ${state}`),
    );
  });

  test.each<[string, string, number]>([
    ["the config and the state folder are", "", 0o777],
    ["the config is, in a mode of others alone,", "", 0o703],
    ["the config is, as a file that everybody can write,", "isthmus.toml", 0o666],
  ])("no process starts where %s for everybody to replace", async (_, name, mode) => {
    await attempts(
      (state) => {
        const path = join(dirname(state), name);
        const { mode: before } = statSync(path);
        chmodSync(path, mode);
        return () => chmodSync(path, before);
      },
      (state, said) => expect(said).toContain(`w ${join(dirname(state), name)}`),
    );
  });

  test("a config that is replaced by another user while a process runs is not taken over", async () => {
    for (const folder of folders()) {
      const file = join(folder, "isthmus.toml");
      const text = readFileSync(file, "utf8");
      const refusals = () => field.log().split("config refused, the old one stays").length;
      const before = refusals();
      chmodSync(folder, 0o777);
      rmSync(file);
      // What uid 65534 would do; where this is not root, an open folder is enough to be refused.
      writeFileSync(
        file,
        `${text}\n[[servers]]\nid = "planted"\ncommand = "touch"\nargs = ["${join(folder, "ran")}"]\n`,
      );
      if (process.getuid?.() === 0) {
        chownSync(file, 65_534, 65_534);
        chmodSync(folder, 0o700);
      }
      await vi.waitFor(() => expect(refusals()).toBeGreaterThan(before), { timeout: 20_000 });
      chmodSync(folder, 0o700);
      rmSync(file);
      writeFileSync(file, text);
      expect(existsSync(join(folder, "ran"))).toBe(false);
    }
    expect(field.log()).toContain(
      process.getuid?.() === 0 ? "belongs to another user by now (uid 65534)" : "chmod o-w",
    );
    const { text } = await field.api("GET", "/api/servers", undefined, { as: "root" });
    expect(text).not.toContain("planted");
  });

  test.skipIf(process.getuid?.() !== 0)("a key of another user is refused", async () => {
    await attempts(
      (state) =>
        key(state, "vault.keys", (file) => {
          writeFileSync(file, "x", { mode: 0o600 });
          chownSync(file, 4321, 4321);
        }),
      (state, said) => expect(said).toContain(`${join(state, "vault.keys")} belongs to another user`),
    );
  });

  test("what is no key is named, with what to run: pins, the database, folders that can be read", async () => {
    for (const folder of folders()) {
      const state = join(folder, ".isthmus");
      const pins = join(state, "pins.json");
      if (!existsSync(pins)) writeFileSync(pins, "{}");
      // Three processes have their database elsewhere.
      const database = join(state, "isthmus.db");
      const checkpoint = join(state, "audit-checkpoint.json");
      const files = field.processes === 1 ? [pins, checkpoint, database] : [pins];
      for (const file of files) chmodSync(file, 0o666);
      chmodSync(state, 0o755);
      const { stdout } = await runProgram(["doctor", "--json", "--timeout", "1ms", ...config(folder)]);
      for (const file of files) expect(stdout).toContain(`chmod 600 ${file}`);
      expect(stdout).toContain(`chmod 700 ${state}`);
      for (const file of files) chmodSync(file, 0o600);
      chmodSync(state, 0o700);
    }
  });
});

test.each([
  ["token that can be read", "operator.token", 0o644, "others can read this token"],
  ["token that can be written", "operator.token", 0o622, "others can change this token"],
  ["folder that can be written", "", 0o777, "chmod o-w"],
])("an operator's %s by everybody is named by doctor as by the log", async (_, name, mode, said) => {
  await using place = new Workspace(AUDITED);
  const home = join(place.folder, ".config/isthmus");
  await place.up("127.0.0.1:0", { HOME: place.folder });
  chmodSync(join(home, name), mode);
  const { stdout } = await place.run(["doctor", "--json", "--timeout", "1ms"]);
  const findings = (JSON.parse(stdout) as { findings: { level: string; what: string }[] }).findings;
  const files = findings.filter(({ what }) => what === "files");
  expect(files).toMatchObject([{ level: "warning" }]);
  expect(JSON.stringify(files)).toContain(said);
});

const isRoot = process.getuid?.() === 0;
/** With all of it the gateway starts. `end`: of the file's name; undefined: its folder. */
const OPEN_DATABASES: readonly [what: string, end: string | undefined, mode: number, found: string][] = [
  ["that others can read", "", 0o644, "can be read by everybody (mode 0644)"],
  ["that others can write", "", 0o622, "can be written by everybody (mode 0622)"],
  ["that others can read and write", "", 0o666, "can be read and written by everybody (mode 0666)"],
  ["that a group can write", "", 0o664, `can be read by everybody${isRoot ? " and written by its group (" : ""}`],
  ["whose log others can read", "-wal", 0o644, "can be read by everybody (mode 0644)"],
  ["whose log others can read and write", "-wal", 0o666, "can be read and written by everybody (mode 0666)"],
  ["whose folder others can write", undefined, 0o777, "can be written by everybody (mode 0777)"],
];

test.each(OPEN_DATABASES)(
  "a database %s is named in the log of what starts, and does not keep it from starting",
  async (_, end, mode, found) => {
    const folder = mkdtempSync(join(tmpdir(), "isthmus-attack-database-"));
    const database = join(folder, "calls.db");
    const held = end === undefined ? folder : database + end;
    if (held !== folder) writeFileSync(held, "");
    // A group that is not the user's own.
    if (isRoot) chownSync(held, 0, 4321);
    chmodSync(held, mode);
    const text = `[database]\nurl = "sqlite:${database}"\n`;
    await using gateway = await startGateway({ config: text });
    const said = () => gateway.program.stderr.split("\n").find((line) => line.includes("others can get at a file"));
    await vi.waitFor(() => expect(said()).toBeDefined(), { timeout: 20_000 });
    expect(said()).toContain(found);
    expect(said()).toContain(held === folder ? `chmod o-w ${folder}` : `chmod 600 ${held}`);
    expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(200);
    rmSync(folder, { recursive: true });
  },
);
