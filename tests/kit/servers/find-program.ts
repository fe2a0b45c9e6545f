import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export type WantedProgram = {
  readonly name: string;
  /** Where else than in PATH packages put it; a function where that depends on what is installed. */
  readonly folders: readonly string[] | (() => readonly string[]);
  /** The Debian package that has it. */
  readonly aptPackage: string;
};

/** The path of a program. Root of a Debian machine gets it installed; anybody else is told what is missing. */
export function findProgram(wanted: WantedProgram): string {
  return lookFor(wanted) ?? install(wanted);
}

function lookFor({ name, folders }: WantedProgram): string | undefined {
  const places = [
    ...(typeof folders === "function" ? folders() : folders),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return places.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function install(wanted: WantedProgram): string {
  const missing = `these tests need ${wanted.name}, which is not on this machine`;
  if (process.getuid?.() !== 0) throw new Error(`${missing}: install the package ${wanted.aptPackage}`);
  try {
    // The lock's timeout lets two test files that install at the same time wait for each other.
    const options = ["-o", "DPkg::Lock::Timeout=120", "-y", "-qq", "--no-install-recommends"];
    // Packages would start servers of their own; runlevel 1 tells their scripts not to.
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
    execFileSync("apt-get", ["update", "-qq"], { stdio: "ignore", env });
    execFileSync("apt-get", ["install", ...options, wanted.aptPackage], { stdio: "ignore", env });
  } catch (error) {
    throw new Error(`${missing}, and "apt-get install ${wanted.aptPackage}" failed`, { cause: error });
  }
  const path = lookFor(wanted);
  if (path === undefined) throw new Error(`${missing}, even after "apt-get install ${wanted.aptPackage}"`);
  return path;
}
