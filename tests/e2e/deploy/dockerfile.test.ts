/**
 * The image of deploy/Dockerfile without Docker: the commands of its first stage are run as they stand, and what they make
 * runs as the user of the second stage, on a root that cannot be written to, until its health check says yes.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { copyClone } from "../first-minute/newcomer.ts";
import { readDockerfile, textsOf, wordsOf } from "./dockerfile.ts";

const [build, image] = readDockerfile("deploy/Dockerfile");
const isRoot = process.getuid?.() === 0;

/** Makes `folder` look like the file system of a stage: its own /opt, /tmp and so on over those of the machine. */
function inside(folder: string, own: readonly string[], command: string): [string, string[]] {
  const binds = own.map((path) => `mkdir -p '${folder}${path}' '${path}' && mount --bind '${folder}${path}' '${path}'`);
  return ["unshare", ["--mount", "sh", "-ec", `${binds.join("\n")}\n${command}`]];
}

describe.runIf(isRoot)("deploy/Dockerfile, as root", () => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-image-"));
  // Those of the machine would be used else, and stay.
  const own = ["/opt", "/etc/isthmus", "/var/lib/isthmus", "/build"];
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };

  beforeAll(() => {
    const [workdir = ""] = textsOf(build, "WORKDIR");
    copyClone(join(folder, workdir));
    mkdirSync(join(folder, "packed"));
    for (const command of textsOf(build, "RUN")) {
      // /tmp is where this test is, so packages go to a folder beside.
      const moved = command.replaceAll("/tmp", join(folder, "packed"));
      execFileSync(...inside(folder, own, `cd ${workdir}\n${moved}`), { env, stdio: "pipe", timeout: 240_000 });
    }
    for (const copied of textsOf(image, "COPY").filter((text) => !text.startsWith("--from"))) {
      const [from = "", to = ""] = copied.split(" ");
      cpSync(join(folder, workdir, from), join(folder, to));
    }
    for (const command of textsOf(image, "RUN")) execFileSync(...inside(folder, own, command), { stdio: "pipe" });
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test("makes an image that serves as its own user on a read-only root, and is healthy", {
    timeout: 60_000,
  }, async () => {
    const [user = ""] = textsOf(image, "USER");
    const [workdir = ""] = textsOf(image, "WORKDIR");
    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const [uid, gid] = user.split(":");
    const settings = textsOf(image, "ENV").join(" ");
    const check = wordsOf(textsOf(image, "HEALTHCHECK")[0]);
    const start = [...wordsOf(textsOf(image, "ENTRYPOINT")[0]), ...wordsOf(textsOf(image, "CMD")[0])];
    const quoted = (words: readonly string[]) => words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    // What the image's Node is called in it must be found, also where this clone is in /tmp; and a volume can be written to.
    const script = `
      mount --make-rprivate /
      mount --bind ${dirname(process.execPath)} /mnt
      mount -t tmpfs tmpfs /tmp
      mount -o remount,bind,ro /
      mount -o remount,bind,ro /opt; mount -o remount,bind,ro /etc/isthmus
      export ${settings.replace("$PATH", "/mnt:$PATH")}
      cd ${workdir}
      as_user="setpriv --reuid=${uid} --regid=${gid} --clear-groups --no-new-privs --"
      if $as_user touch /opt/isthmus/x /etc/isthmus/x /x 2>/dev/null; then echo 'the root can be written to'; exit 1; fi
      ip link set lo up
      $as_user isthmus token create --user root --role admin >/dev/null 2>&1
      $as_user ${quoted(start)} & server=$!
      tries=0
      until $as_user ${quoted(check)}; do tries=$((tries + 1)); [ $tries -lt 200 ] || exit 1; sleep 0.1; done
      echo healthy
      kill $server; wait $server`;
    const [file, args] = inside(folder, own, script);
    const child = spawn(file, ["--net", ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
    });
    const [code] = await once(child, "close");
    expect([code, printed]).toEqual([0, expect.stringContaining("healthy")]);
  });
});

test("only the program and its config get into the image", () => {
  expect(textsOf(image, "COPY").map((text) => basename(text.split(" ").at(-1) ?? ""))).toEqual([
    "isthmus",
    "isthmus.toml",
  ]);
  expect(build?.from).toBe(`${image?.from} AS build`);
});
