/** What a page tells people to type has been typed: by the tests that run whole pages, or by those named here. */
import { expect, test } from "vitest";
import { runPages } from "../e2e/guide/run-pages.ts";
import { type Block, isCommand, readBlocks } from "../e2e/kit/markdown.ts";
import { listFiles, readText } from "./repo-files.ts";

const PAGES = [
  ...["README.md", "CONTRIBUTING.md", "SECURITY.md", "ARCHITECTURE.md", "AGENTS.md", "CHANGELOG.md"],
  ...["docs", "examples", "changes", "bench", "tests"].flatMap((folder) => listFiles(folder, ".md")),
].filter((page) => !page.includes("node_modules/"));

/** Languages in which people write commands, and which the tests that run pages do not look at. */
const OTHER_SHELLS = new Set(["bash", "shell", "console", "terminal", "zsh", "fish", "powershell", "cmd", "bat"]);

/** The first block of commands of a page that is not run as a whole: the test that types it. */
const TYPED_FIRST: Readonly<Record<string, string>> = {
  "docs/guide/install.md": "tests/e2e/package/from-clone.test.ts",
};

/** By page and first line: why no test types it. */
const NOT_RUN: Readonly<Record<string, string>> = {
  "CONTRIBUTING.md: npm install        # brings its own Node 24; do not use --ignore-scripts":
    "runs all tests, this one included: .ci/run types it",
  "docs/guide/install.md: docker build -f deploy/Dockerfile -t isthmus .":
    "needs Docker: tests/e2e/deploy runs the commands of the Dockerfile without it",
  "docs/guide/install.md: export POSTGRES_PASSWORD=…":
    "needs Docker: tests/e2e/deploy starts what the compose file names without it",
  "docs/guide/install.md: sudo npm install --global ./isthmus-0.1.0.tgz":
    "changes the machine: tests/e2e/deploy lets systemd judge the unit",
};

const nameOf = (page: string, { text }: Block) => `${page}: ${text.split("\n", 1)[0]}`;
const blocksOf = (page: string) => readBlocks(page).map((block) => ({ block, name: nameOf(page, block) }));
const isTypedFirst = (page: string, { place }: Block) =>
  page in TYPED_FIRST && place === readBlocks(page).find(isCommand)?.place;

test("every command that a page shows is run by a test, or says why not", () => {
  const run = new Set(runPages());
  const left = PAGES.filter((page) => !run.has(page)).flatMap((page) =>
    blocksOf(page).filter(({ block, name }) => isCommand(block) && !(name in NOT_RUN || isTypedFirst(page, block))),
  );
  expect(left.map(({ name }) => name)).toEqual([]);
});

test.each(Object.entries(TYPED_FIRST))("the first commands of %s are those that %s types", (page, file) => {
  expect(readText(file)).toContain(`blockOf("${page}", "sh")`);
});

test("every block says what it is, so that no command hides in one that nobody runs", () => {
  const unclear = PAGES.flatMap((page) =>
    blocksOf(page).filter(({ block }) => block.language === "" || OTHER_SHELLS.has(block.language)),
  );
  expect(unclear.map(({ name }) => name)).toEqual([]);
});

test("what README.md types up to its first call is of Node and npm, as it promises", () => {
  const [start, call] = readBlocks("README.md").filter(isCommand);
  expect(start?.text).toBe("npm install && npm start\n");
  expect(call?.text).toMatch(/^npm run -s isthmus -- call \S+ .*\n$/);
});

test("what is not run is still there", () => {
  const names = new Set(PAGES.flatMap((page) => blocksOf(page).map(({ name }) => name)));
  expect(Object.keys(NOT_RUN).filter((name) => !names.has(name))).toEqual([]);
});

/** By verb: what the generated reference says of it. */
const VERBS = new Map(
  readText("docs/reference/cli.md")
    .split(/^## /m)
    .map((section) => [/^`isthmus (\S+)`/.exec(section)?.[1] ?? "", section]),
);

/** Commands in the middle of a sentence. */
function namedInPassing(page: string, command: RegExp): string[] {
  const prose = readText(page).replace(/^```[\s\S]*?^```$/gm, "");
  const named = [...prose.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text.replaceAll(/\s+/g, " "));
  return named.filter((text) => command.test(text));
}

const OWN = /^isthmus [a-z]/;
/** One of another program: its name and something behind it. */
const OTHER =
  /^(?:alias|apt(?:-get)?|brew|cat|chmod|chown|claude|code|command|cp|curl|docker|env|export|git|grep|journalctl|kill(?:all)?|ln|lsof|mkdir|mv|nginx|node|nohup|npm|npx|openssl|pip|pkill|podman|ps|psql|redis-(?:cli|server)|rm|sh|sqlite3|ss|sudo|systemctl|systemd-\S+|tar|tmux|touch|unshare|uvx?|wget|wsl) \S/;

function isInReference(command: string): boolean {
  const [, verb = "", ...words] = command.split(/\s+/);
  const section = VERBS.get(verb);
  const options = words.filter((word) => word.startsWith("--") && word.length > 2);
  return section !== undefined && options.every((option) => section.includes(`\`${option.split("=", 1)[0]}`));
}

const FOR_USERS = ["README.md", ...listFiles("docs/guide", ".md"), ...listFiles("examples", "README.md")];

test.each(FOR_USERS)("%s names verbs and options that there are", (page) => {
  // Also those that another program starts: `docker exec CONTAINER isthmus token create …`.
  const within = namedInPassing(page, OTHER).flatMap((text) => /\sisthmus [a-z].*/.exec(text)?.[0].trim() ?? []);
  const commands = [...namedInPassing(page, OWN), ...within];
  expect(commands.filter((command) => !isInReference(command))).toEqual([]);
});

/** Commands of other programs that stand in a sentence: the test that types each, and words of it. */
const TYPED_IN_PASSING: Readonly<Record<string, readonly [file: string, words: string]>> = {
  "alias isthmus='npm run -s isthmus --'": ["tests/e2e/npm-start.test.ts", "alias isthmus='npm run -s isthmus --'"],
  "npm run -s isthmus --": ["tests/e2e/npm-start.test.ts", "npm run -s isthmus -- approve"],
  'cp -r "$(npm root -g)/isthmus/examples" .': ["tests/e2e/package/package.test.ts", 'cp -r "$(npm root -g'],
  "command -v isthmus": ["tests/e2e/package/package.test.ts", "command -v isthmus"],
  "kill -HUP": ["tests/e2e/config/reload.test.ts", 'kill("SIGHUP")'],
  "kill -INT": ["tests/e2e/npm-start.test.ts", '"kill -INT"'],
  "npm i -g": ["tests/e2e/package/installed.ts", "npm install --global"],
  "npm install && npm start": ["tests/e2e/first-minute/first-minute.test.ts", "npm install && npm start"],
  "npm install && npm test": [".ci/run", "npm test"],
  "npm pack": ["tests/e2e/package/installed.ts", '["pack"'],
  "npm run test:long": [".ci/run", "npm run test:long"],
  "npm start": ["tests/e2e/npm-start.test.ts", '["start"]'],
  "npm test": [".ci/run", "npm test"],
  "npx --package=./isthmus-0.1.0.tgz isthmus up": ["tests/e2e/package/package.test.ts", '"npx isthmus up"'],
  "systemd-analyze verify": ["tests/e2e/deploy/systemd.test.ts", '"verify"'],
};

/** Those that none types, and why. */
const NOT_TYPED_IN_PASSING: Readonly<Record<string, string>> = {
  "command -v npx": "is of the shell, and npx is where npm is",
  "docker exec CONTAINER isthmus token create --user root --role admin":
    "needs Docker; its verb and options are looked up above",
  "npm run e2e -- first-minute -u": "writes the page that names it, from what the test of that name sees",
  "npm run needs": "installs for the machine; before every lane it is typed by scripts/test.ts",
  "sudo env HOME=/var/lib/isthmus isthmus token create --user root --role admin":
    "changes the machine; its verb and options are looked up above",
  "systemctl reload isthmus": "needs a systemd that runs: it does the ExecReload of the unit, kill -HUP",
  "wsl isthmus stdio": "needs Windows; its verb is looked up above",
};

test("every command of another program that a sentence names is typed by a test, or says why not", () => {
  const named = new Set(FOR_USERS.flatMap((page) => namedInPassing(page, OTHER)));
  const told = [...Object.keys(TYPED_IN_PASSING), ...Object.keys(NOT_TYPED_IN_PASSING)];
  expect([...named].sort()).toEqual(told.sort());
});

test.each(Object.entries(TYPED_IN_PASSING))("`%s` is in the test that is said to type it", (_, [file, words]) => {
  expect(readText(file).includes(words), `${file} types ${words}`).toBe(true);
});

test("scripts that pages name are there", () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(readText("package.json"));
  const named = FOR_USERS.flatMap((page) => namedInPassing(page, /\bnpm (?:run|start|test)\b/)).flatMap((text) =>
    [...text.matchAll(/\bnpm (?:run (?:-s )?)?([a-z][\w:-]*)/g)].map(([, name = ""]) => name),
  );
  expect(named.filter((name) => name !== "install" && scripts[name] === undefined)).toEqual([]);
});
