/** A server in Python that uvx or pip fetches: as a wheel made by hand, since what builds wheels is a package of its own. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { pathOf } from "../../needs/need.ts";
import { uvx } from "../../needs/programs.ts";
import type { Company, Fetched } from "./company.ts";
import type { Files } from "./company-network.ts";

const PACKAGE = "company-notes";

const MODULE = "company_notes";
const INFO = `${MODULE}-1.0.0.dist-info`;
const WHEEL = `${MODULE}-1.0.0-py3-none-any.whl`;

const INDEX = "/simple/";
const PAGE = `${INDEX}${PACKAGE}/`;
/** `uvx`, and the Python that has pip. */
const tools = dirname(pathOf(uvx));
const common = { pack, path: PAGE, env: { PATH: tools + delimiter + process.env.PATH } };

const INSTALL = `python -m pip install --quiet --target lib ${PACKAGE} >&2`;

export const UVX: Fetched = { ...common, command: "uvx", args: [PACKAGE] };
export const PIP: Fetched = {
  ...common,
  command: "sh",
  args: ["-c", `${INSTALL} && PYTHONPATH=lib exec python -m ${MODULE}`],
};

export const indexUrl = ({ network }: Company): string => new URL(INDEX, network.registryUrl).href;

/** As an index has it. */
function pack(folder: string): Files {
  const content = join(folder, "pack");
  mkdirSync(join(content, INFO), { recursive: true });
  copyFileSync(join(import.meta.dirname, `${MODULE}.py`), join(content, `${MODULE}.py`));
  const about = {
    METADATA: `Metadata-Version: 2.1\nName: ${PACKAGE}\nVersion: 1.0.0\n`,
    WHEEL: "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "entry_points.txt": `[console_scripts]\n${PACKAGE} = ${MODULE}:main\n`,
  };
  const paths = [`${MODULE}.py`, ...[...Object.keys(about), "RECORD"].map((name) => `${INFO}/${name}`)];
  const record = paths.map((path) => `${path},,\n`).join("");
  for (const [name, text] of Object.entries({ ...about, RECORD: record }))
    writeFileSync(join(content, INFO, name), text);
  const zip = ["-m", "zipfile", "-c", WHEEL, `${MODULE}.py`, INFO];
  execFileSync(join(tools, "python"), zip, { cwd: content });
  return {
    [PAGE]: `<a href="${WHEEL}">${WHEEL}</a>`,
    [PAGE + WHEEL]: readFileSync(join(content, WHEEL)),
  };
}
