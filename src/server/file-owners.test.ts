import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type HeldFile, inspectFile, type Owner } from "./file-owners.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-places-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;
const me: Owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
/** Somebody whose group is not theirs alone. */
const shared: Owner = { uid: me.uid, gid: me.gid + 1 };

function open(name: string, mode: number): string {
  const path = join(folder, name);
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  return path;
}

function put(file: string, mode = 0o600): string {
  writeFileSync(file, "x");
  chmodSync(file, mode);
  return file;
}

const config = (file: string): HeldFile => ({ file, holds: "trust", isConfig: true });
const verdicts = (held: HeldFile, owner = me) =>
  inspectFile(held, owner).map(({ file, isRefused }) => [file, isRefused ? "refused" : "named"]);

describe.skipIf(process.platform === "win32")("the folder around", () => {
  test.each<[string, (file: string) => HeldFile, "refused" | "named"]>([
    ["the config", config, "refused"],
    ["the state folder", (file) => ({ file, holds: "folder" }), "refused"],
    ["a key", (file) => ({ file, holds: "key" }), "refused"],
    ["a database", (file) => ({ file, holds: "data" }), "named"],
    ["an anchor", (file) => ({ file, holds: "trust" }), "named"],
    ["a token", (file) => ({ file, holds: "secret" }), "named"],
  ])("%s is told of where everybody can write it, and every folder above", (_name, held, verdict) => {
    const around = open("around", 0o777);
    expect(verdicts(held(put(join(around, "it"))))).toEqual([[around, verdict]]);
    expect(inspectFile(held(join(around, "it")), me)[0]?.fix).toBe(`chmod o-w ${around}`);
    // What will be put there counts as what is there.
    expect(verdicts(held(join(around, "later")))).toEqual([[around, verdict]]);
    const below = open("around/below", 0o700);
    expect(verdicts(held(put(join(below, "it"))))).toEqual([[around, verdict]]);
    chmodSync(around, 0o755);
    expect(verdicts(held(join(around, "it")))).toEqual([]);
  });

  test("the config may be one in which everybody has only their own, where the config is ours", () => {
    const sticky = open("sticky", 0o1777);
    const file = put(join(sticky, "isthmus.toml"), 0o644);
    expect(verdicts(config(file))).toEqual([]);
    if (!isRoot) return;
    const reader = { uid: 1234, gid: 1234 };
    expect(verdicts(config(file), reader)).toEqual([]);
    chownSync(file, 4321, 4321);
    expect(verdicts(config(file), reader)).toContainEqual([file, "refused"]);
    // A link of somebody else leads wherever they like.
    const link = join(sticky, "link.toml");
    symlinkSync(put(join(folder, "own.toml"), 0o644), link);
    expect(verdicts(config(link), reader)).toEqual([]);
    execFileSync("chown", ["-h", "4321", link]);
    expect(verdicts(config(link), reader)).toEqual([[link, "refused"]]);
  });

  test("the config is named where its group can write it, unless that is the user's own", () => {
    const around = open("around", 0o775);
    const file = put(join(around, "isthmus.toml"), 0o644);
    expect(verdicts(config(file), shared)).toEqual([[around, "named"]]);
    expect(verdicts(config(file), { uid: me.gid, gid: me.gid })).not.toContainEqual([around, "named"]);
  });
});

test.skipIf(process.platform === "win32")(
  "a config that everybody can write is refused, and one for its group is named",
  () => {
    const file = put(join(folder, "isthmus.toml"), 0o666);
    expect(verdicts(config(file))).toEqual([[file, "refused"]]);
    chmodSync(file, 0o664);
    expect(verdicts(config(file), shared)).toEqual([[file, "named"]]);
  },
);

const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0;

test.runIf(canMount)(
  "a config map of Kubernetes is fine: mode 0777 and links, mounted so that nobody can write",
  () => {
    const look = `
    const { inspectFile } = await import(${JSON.stringify(join(import.meta.dirname, "file-owners.ts"))});
    const found = inspectFile({ file: "isthmus.toml", holds: "trust", isConfig: true }, { uid: 1000, gid: 1000 });
    process.stdout.write(JSON.stringify(found.map(({ isRefused }) => isRefused)));`;
    const lay = `set -e; mount -t tmpfs none "$1"; cd "$1"; chmod 777 .; mkdir ..2026_01; ln -s ..2026_01 ..data
    echo > ..data/isthmus.toml; ln -s ..data/isthmus.toml isthmus.toml; chmod 666 ..data/isthmus.toml; chmod 777 ..2026_01`;
    const run = (more: string) =>
      execFileSync(
        "unshare",
        ["-rm", "sh", "-c", `${lay}; ${more} "$0" --input-type=module -e "$2"`, process.execPath, folder, look],
        { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
      );
    expect(JSON.parse(run(""))).toContain(true);
    expect(JSON.parse(run('mount -o remount,ro "$1";'))).not.toContain(true);
  },
);
