/** The Python SDK in a virtual environment of its own, made once and again when requirements.txt changes. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./processes.ts";

const FOLDER = join(import.meta.dirname, ".venv");
const PYTHON = join(FOLDER, "bin/python");
const REQUIREMENTS = join(import.meta.dirname, "requirements.txt");
const HAS_VENV = ["python3", "-c", "import ensurepip, venv"];
const STAMP = join(FOLDER, "installed.txt");

/** Resolves with the Python that has the SDK. Says what is missing when it cannot be made. */
export async function preparePython(): Promise<string> {
  const wanted = readFileSync(REQUIREMENTS, "utf8");
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return PYTHON;
  rmSync(FOLDER, { recursive: true, force: true });
  if (!(await works(HAS_VENV))) await installVenv();
  await need("python3 is missing", ["python3", "--version"]);
  await need("python3 lacks ensurepip (on Debian: the package python3-venv)", HAS_VENV);
  await need("python3 could not make a virtual environment", ["python3", "-m", "venv", FOLDER]);
  await need("pip is missing in the virtual environment", [PYTHON, "-m", "pip", "--version"]);
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", REQUIREMENTS];
  await need(`pip could not install ${wanted.trim()}`, [PYTHON, ...install]);
  writeFileSync(STAMP, wanted);
  return PYTHON;
}

/** Where apt is there and we may use it; elsewhere the complaint that follows says what to install. */
async function installVenv(): Promise<void> {
  if (process.getuid?.() !== 0 || !(await works(["apt-get", "--version"]))) return;
  await run(["apt-get", "update", "-qq"], 120_000);
  await run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "python3", "python3-venv"], 240_000);
}

async function works(command: readonly string[]): Promise<boolean> {
  return (await run(command, 60_000).catch(() => ({ code: 1 }))).code === 0;
}

async function need(complaint: string, command: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await run(command, 120_000);
  if (code !== 0) throw new Error(`The era matrix runs the Python SDK, but ${complaint}.\n${stdout}${stderr}`);
}
