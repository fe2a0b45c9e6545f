/**
 * Everything that tests need of the machine, with the Debian package that has it. What a test file needs is read from
 * its imports (`needs-of-file.ts`): whoever imports a name from here, directly or through others, needs it.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Need, programNeed } from "./need.ts";

export const redisServer = programNeed({
  name: "redis-server",
  folders: ["/usr/bin", "/usr/local/bin"],
  aptPackage: "redis-server",
});

export const initdb = programNeed({ name: "initdb", folders: postgresFolders, aptPackage: "postgresql" });
export const postgres = programNeed({ name: "postgres", folders: postgresFolders, aptPackage: "postgresql" });

export const nginx = programNeed({
  name: "nginx",
  folders: ["/usr/sbin", "/usr/local/sbin"],
  aptPackage: "nginx-light",
});

export const chromium = programNeed({
  name: "chromium",
  folders: ["/usr/bin", "/usr/local/bin"],
  aptPackage: "chromium",
});
export const curl = programNeed({ name: "curl", aptPackage: "curl" });
export const git = programNeed({ name: "git", aptPackage: "git" });
export const ip = programNeed({ name: "ip", folders: ["/usr/sbin", "/sbin"], aptPackage: "iproute2" });
export const openssl = programNeed({ name: "openssl", aptPackage: "openssl" });
export const systemdAnalyze = programNeed({ name: "systemd-analyze", aptPackage: "systemd" });
export const tmux = programNeed({ name: "tmux", aptPackage: "tmux" });

/** With what makes virtual environments, which Debian has in a package of its own. */
export const python3: Need = {
  name: "python3 with venv",
  aptPackages: ["python3", "python3-venv"],
  find: () => (spawnSync("python3", ["-c", "import ensurepip, venv"]).status === 0 ? "python3" : undefined),
};

/** The official Python SDK: version 2, and version 1, whose servers are called FastMCP. */
export const pythonSdk = venvNeed("the Python SDK", "eras", "python");
export const pythonSdk1 = venvNeed("the Python SDK 1", "e2e/upstream-auth", "python");

/** With the Python of its virtual environment, which has pip, beside it. */
export const uvx = venvNeed("uvx", "e2e/company-network", "uvx");

/** What `requirements.txt` in a folder of tests lists, in a virtual environment beside it, made again when the list changes. */
function venvNeed(name: string, folder: string, program: string): Need {
  const requirements = join(import.meta.dirname, "..", folder, "requirements.txt");
  const venv = join(dirname(requirements), ".venv");
  const stamp = join(venv, "installed.txt");
  return {
    name,
    aptPackages: [],
    madeOf: [python3],
    find() {
      const isMade = existsSync(stamp) && readFileSync(stamp, "utf8") === readFileSync(requirements, "utf8");
      return isMade ? join(venv, "bin", program) : undefined;
    },
    make() {
      rmSync(venv, { recursive: true, force: true });
      execFileSync("python3", ["-m", "venv", venv], { stdio: "inherit" });
      const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements];
      execFileSync(join(venv, "bin/python"), install, { stdio: "inherit" });
      copyFileSync(requirements, stamp);
    },
  };
}

const PARTS = join(import.meta.dirname, "../parts");
const PARTS_LOCK = join(PARTS, "package-lock.json");
const PARTS_STAMP = join(PARTS, "node_modules/.installed");

/** The servers, clients and suites of tests/parts; found at the folder in which they are, made again when its lockfile changes. */
export const parts: Need = {
  name: "tests/parts",
  aptPackages: [],
  find() {
    const isMade = existsSync(PARTS_STAMP) && readFileSync(PARTS_STAMP, "utf8") === readFileSync(PARTS_LOCK, "utf8");
    return isMade ? join(PARTS, "node_modules") : undefined;
  },
  make() {
    execFileSync("npm", ["ci", "--prefix", PARTS], { stdio: "inherit" });
    copyFileSync(PARTS_LOCK, PARTS_STAMP);
  },
};

/** The newest first. */
function postgresFolders(): string[] {
  const root = "/usr/lib/postgresql";
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, "bin"));
}
