import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KeptLog } from "../../tests/kit/quiet.ts";
import { type Config, ConfigError, ConfigSource } from "./config/index.ts";
import { type Holding, inspectFile, type Owner } from "./file-owners.ts";
import { FileWarden, inspectFiles } from "./private-files.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-files-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const me: Owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
/** Somebody whose group is not theirs alone. */
const shared: Owner = { uid: me.uid, gid: me.gid + 1 };

function put(name: string, mode: number): string {
  const file = join(folder, name);
  writeFileSync(file, "x");
  chmodSync(file, mode);
  return file;
}

describe("a file", () => {
  test.each<[Holding, number, "fine" | "named" | "refused", string?]>([
    ["key", 0o600, "fine"],
    ["key", 0o400, "fine"],
    ["key", 0o440, "named", "can be read by its group (mode 0440)"],
    ["key", 0o640, "named"],
    ["key", 0o644, "refused", "can be read by everybody (mode 0644)"],
    ["key", 0o604, "refused"],
    ["key", 0o602, "refused", "can be written by everybody (mode 0602)"],
    ["key", 0o660, "refused", "can be read and written by its group (mode 0660)"],
    ["secret", 0o644, "named"],
    ["secret", 0o600, "fine"],
    ["data", 0o664, "named", "can be read by everybody and written by its group (mode 0664)"],
    ["data", 0o666, "named", "can be read and written by everybody (mode 0666)"],
    ["data", 0o642, "named", "can be written by everybody and read by its group (mode 0642)"],
    ["data", 0o600, "fine"],
    ["trust", 0o644, "fine"],
    ["trust", 0o646, "named", "can be written by everybody (mode 0646)"],
    ["trust", 0o664, "named", "can be written by its group (mode 0664)"],
  ])("with a %s and mode %o is %s", (holds, mode, verdict, text) => {
    const file = put("held", mode);
    const found = inspectFile({ file, holds }, shared);
    expect(found.map(({ isRefused }) => (isRefused ? "refused" : "named"))).toEqual(
      verdict === "fine" ? [] : [verdict],
    );
    if (text !== undefined) expect(found[0]?.found).toBe(text);
    for (const { fix } of found) expect(fix).toBe(holds === "trust" ? `chmod go-w ${file}` : `chmod 600 ${file}`);
  });

  test.each<[number, "fine" | "named" | "refused"]>([
    [0o700, "fine"],
    [0o711, "fine"],
    [0o755, "named"],
    [0o770, "named"],
    [0o777, "refused"],
    [0o1777, "named"],
  ])("that is the state folder, with mode %o, is %s", (mode, verdict) => {
    const file = join(folder, "state");
    mkdirSync(file);
    chmodSync(file, mode);
    const found = inspectFile({ file, holds: "folder" }, shared);
    expect(found.map(({ isRefused }) => (isRefused ? "refused" : "named"))).toEqual(
      verdict === "fine" ? [] : [verdict],
    );
    for (const { fix } of found) expect(fix).toBe(`chmod 700 ${file}`);
  });

  test("is not open to a group that is its user's alone", () => {
    const file = put("held", 0o660);
    expect(inspectFile({ file, holds: "key" }, { uid: me.gid, gid: me.gid })).toEqual(
      me.uid === me.gid || me.uid === 0 ? [] : [expect.objectContaining({ found: expect.stringContaining("belongs") })],
    );
  });

  test("of another user is refused where it is a key, and named where it is not", () => {
    const file = put("held", 0o600);
    const another = { uid: me.uid + 1, gid: me.gid + 1 };
    if (me.uid === 0) chownSync(file, another.uid + 1, another.gid + 1);
    const fix = `chown ${another.uid} ${file}`;
    expect(inspectFile({ file, holds: "key" }, another)).toMatchObject([{ isRefused: true, fix }]);
    expect(inspectFile({ file, holds: "data" }, another)).toMatchObject([{ isRefused: false, fix }]);
  });

  // Only root has files of root.
  test.runIf(me.uid === 0)(
    "of root is fine as long as a group may read it, and cannot be used where nobody may",
    () => {
      const file = put("held", 0o640);
      const user = { uid: 1234, gid: 1234 };
      const named = [{ isRefused: false, found: expect.stringMatching(/^can be read by its group/) }];
      expect(inspectFile({ file, holds: "key" }, user)).toMatchObject(named);
      chmodSync(file, 0o600);
      const closed = { found: "can be read by root alone", fix: `chown 1234 ${file}` };
      expect(inspectFile({ file, holds: "key" }, user)).toMatchObject([{ isRefused: true, ...closed }]);
      expect(inspectFile({ file, holds: "data" }, user)).toMatchObject([{ isRefused: false, ...closed }]);
    },
  );

  test("with a key that its own user cannot read is refused", () => {
    const file = put("held", 0o200);
    const user = me.uid === 0 ? { uid: 1234, gid: 1234 } : me;
    if (me.uid === 0) chownSync(file, user.uid, user.gid);
    const closed = { found: "cannot be read by its own user (mode 0200)", fix: `chmod 600 ${file}` };
    expect(inspectFile({ file, holds: "key" }, user)).toMatchObject([{ isRefused: true, ...closed }]);
    expect(inspectFile({ file, holds: "data" }, user)).toEqual([]);
  });

  test("is open to the group of a user who shares it, where that is the file's", () => {
    const file = put("held", 0o660);
    expect(inspectFile({ file, holds: "key" }, { uid: me.gid + 1, gid: me.gid })).toContainEqual(
      expect.objectContaining({ found: "can be read and written by its group (mode 0660)" }),
    );
  });

  test("is looked at through a link, and so is where the link and the file are", () => {
    mkdirSync(join(folder, "open"));
    chmodSync(join(folder, "open"), 0o777);
    const readable = put("readable key", 0o644);
    const link = join(folder, "open", "link");
    symlinkSync(readable, link);
    expect(inspectFile({ file: link, holds: "key" }, me)).toMatchObject([
      { file: readable, isRefused: true, fix: `chmod 600 '${readable}'` },
      { file: join(folder, "open"), isRefused: true, fix: `chmod o-w ${join(folder, "open")}` },
    ]);
    const inside = put("open/key", 0o600);
    expect(inspectFile({ file: inside, holds: "key" }, me)).toMatchObject([{ file: join(folder, "open") }]);
    const outside = join(folder, "closed link");
    symlinkSync(inside, outside);
    expect(inspectFile({ file: outside, holds: "key" }, me)).toMatchObject([{ file: join(folder, "open") }]);
  });

  test("with a key may be where everybody writes, but only to what is theirs", () => {
    mkdirSync(join(folder, "sticky"));
    chmodSync(join(folder, "sticky"), 0o1777);
    expect(inspectFile({ file: put("sticky/key", 0o600), holds: "key" }, me)).toEqual([]);
  });

  test("that is not there is no finding", () => {
    expect(inspectFile({ file: join(folder, "none"), holds: "key" }, me)).toEqual([]);
  });
});

function source(toml: string): { config: Config; source: ConfigSource } {
  const file = join(folder, "isthmus.toml");
  writeFileSync(file, toml, { mode: 0o644 });
  const found = new ConfigSource({ config: file }, "program");
  return { config: found.read(), source: found };
}

const server = (more = "") => `[[servers]]\nid = "a"\ncommand = "true"\n${more}\n`;

describe("the files of a gateway", () => {
  test("are all named that others can get at: config, what it names, database, keys, pins, folder", () => {
    for (const name of ["seal", "token", "events.jsonl"]) put(name, 0o644);
    put("ops.pub", 0o666);
    writeFileSync(join(folder, "seal"), "k".repeat(32));
    const state = join(folder, ".isthmus");
    for (const one of [state, join(state, "audit")]) {
      mkdirSync(one);
      chmodSync(one, 0o755);
    }
    for (const name of ["isthmus.db", "isthmus.db-wal", "isthmus.db-shm", "pins.json", "audit-checkpoint.json"]) {
      put(`.isthmus/${name}`, 0o644);
    }
    for (const name of ["audit-key.pem", "vault.keys"]) put(`.isthmus/${name}`, 0o644);
    const given = source(
      `[gateway]\nsealKey = { fromFile = "seal" }\n[audit.file]\npath = "events.jsonl"\n[[gate.anchors]]\nfile = "ops.pub"\n` +
        server('env = { A = { fromFile = "token" }, B = { fromFile = "token" }, C_TOKEN = "written-0123456789" }'),
    );
    const found = inspectFiles(given.config, given.source, shared);
    const names = (isRefused: boolean) =>
      found.filter((one) => one.isRefused === isRefused).map(({ file }) => file.slice(folder.length + 1));
    expect(names(true).sort()).toEqual([".isthmus/audit-key.pem", ".isthmus/vault.keys", "seal"]);
    expect(names(false).sort()).toEqual(
      [
        ".isthmus",
        ".isthmus/audit",
        ".isthmus/audit-checkpoint.json",
        ".isthmus/isthmus.db",
        ".isthmus/isthmus.db-shm",
        ".isthmus/isthmus.db-wal",
        ".isthmus/pins.json",
        "events.jsonl",
        "isthmus.toml",
        "ops.pub",
        "token",
      ].sort(),
    );
  });

  test("are in a folder that is named once, however many keys are in it", () => {
    const state = join(folder, ".isthmus");
    mkdirSync(state);
    chmodSync(state, 0o777);
    for (const name of ["audit-key.pem", "vault.keys"]) put(`.isthmus/${name}`, 0o600);
    const { config, source: given } = source(server());
    const found = inspectFiles(config, given, shared).map((one) => one.found);
    expect(found).toEqual([expect.stringMatching(/^can be/), expect.stringMatching(/^holds a key/)]);
  });

  test("are named where there is no state folder, too", () => {
    const database = put("elsewhere.db", 0o644);
    const { config, source: given } = source(`[database]\nurl = "sqlite:${database}"\n${server()}`);
    const { state: _none, ...gateway } = config.gateway;
    expect(inspectFiles({ ...config, gateway }, given, shared)).toMatchObject([{ file: database, isRefused: false }]);
  });

  test("are looked at as those of the user who has the state folder, where root asks, and that is said once", () => {
    const state = join(folder, ".isthmus");
    mkdirSync(state);
    chmodSync(state, 0o700);
    const files = [state, put(".isthmus/audit-key.pem", 0o600), put(".isthmus/isthmus.db", 0o644)];
    const keeper = me.uid === 0 ? 1234 : me.uid;
    if (me.uid === 0) for (const file of files) chownSync(file, keeper, keeper);
    const { config, source: given } = source(server());
    const found = inspectFiles(config, given, { uid: 0, gid: 0 });
    expect(found).toEqual([
      {
        file: state,
        isRefused: false,
        found: `belongs to uid ${keeper}: all files are looked at as that user's`,
        fix: "doctor as the user that runs the gateway",
      },
      expect.objectContaining({ file: join(state, "isthmus.db"), fix: expect.stringMatching(/^chmod 600 /) }),
    ]);
    // A gateway of root itself takes no key of others.
    const check = () => new FileWarden(new KeptLog(), { uid: 0, gid: 0 }).check(config, given);
    expect(check).toThrow("audit-key.pem belongs to another user");
  });

  test("may be read by all where the config has no secret in it", () => {
    const { config, source: given } = source(server('env = { ROOT = "/srv" }'));
    expect(inspectFiles(config, given, shared)).toEqual([]);
  });

  test("are told of once, and those with a key are refused with what to run", () => {
    const log = new KeptLog();
    const warden = new FileWarden(log);
    const token = put("token", 0o644);
    const first = source(server('env = { A = { fromFile = "token" } }'));
    warden.check(first.config, first.source);
    warden.check(first.config, first.source);
    expect(log.lines).toMatchObject([{ level: "warn", fields: { file: token, fix: `chmod 600 ${token}` } }]);
    const seal = put("seal", 0o644);
    writeFileSync(seal, "k".repeat(32));
    const second = source(`[gateway]\nsealKey = { fromFile = "seal" }\n${server()}`);
    const check = () => warden.check(second.config, second.source);
    expect(check).toThrow(ConfigError);
    expect(check).toThrow(`${seal} can be read by everybody (mode 0644); run: chmod 600 ${seal}`);
  });

  // Only root gives files away.
  test.runIf(me.uid === 0)("are not taken over once the config belongs to somebody who had no part in it", () => {
    const warden = new FileWarden(new KeptLog(), { uid: 1234, gid: 1234 });
    const given = source(server());
    const file = join(folder, "isthmus.toml");
    const check = () => warden.check(given.config, given.source);
    chownSync(file, 4321, 4321);
    check();
    for (const uid of [1234, 0, 4321]) {
      chownSync(file, uid, uid);
      check();
    }
    chownSync(file, 65_534, 65_534);
    expect(check).toThrow(ConfigError);
    expect(check).toThrow(
      `${file} belongs to another user by now (uid 65534); if it is right, run: chown 1234 ${file}`,
    );
  });
});
