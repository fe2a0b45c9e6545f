/** `npm start` of a clone, as a process manager or a script sees it. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { freePort } from "./cli/workspace.ts";
import { descendants, waitForEnd } from "./kit/processes.ts";
import { ROOT } from "./kit/program.ts";
import { post, toolCall } from "./kit/rpc.ts";

const STOP_MS = 15_000;
const PROGRAM = join(ROOT, "dist/isthmus.js");

/** What an installed clone has that `npm start` needs. */
class Clone implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "isthmus-clone-"));
  #npm: ChildProcess | undefined;

  constructor() {
    copyFileSync(join(ROOT, "package.json"), join(this.folder, "package.json"));
    cpSync(join(ROOT, "dist"), join(this.folder, "dist"), { recursive: true });
    symlinkSync(join(ROOT, "node_modules"), join(this.folder, "node_modules"));
  }

  /** Resolves with npm, and all processes below it, when the gateway serves. */
  async run(args: readonly string[], origin: string): Promise<{ npm: ChildProcess; all: number[] }> {
    const env = { ...withoutNpm(), HOME: this.folder, ISTHMUS_LISTEN: new URL(origin).host };
    const npm = spawn("npm", args, { cwd: this.folder, env, stdio: "ignore", detached: true });
    this.#npm = npm;
    const pid = npm.pid as number;
    const deadline = performance.now() + STOP_MS;
    while (!(await isServing(origin)))
      if (performance.now() > deadline) throw new Error(`npm ${args.join(" ")} does not serve`);
    return { npm, all: [pid, ...descendants(pid)] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (this.#npm?.pid !== undefined) process.kill(-this.#npm.pid, "SIGKILL");
    } catch {
      // Nothing is left of it.
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Nothing of the npm that runs this test. */
function withoutNpm(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));
}

async function isServing(origin: string): Promise<boolean> {
  const answer = await fetch(`${origin}/healthz`).catch(() => undefined);
  if (answer === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  return answer?.ok ?? false;
}

test.each([
  ["kill", "start", ["start"], "SIGTERM"],
  ["kill", "run isthmus", ["run", "-s", "isthmus", "--", "up"], "SIGTERM"],
  // Not where the shell is dash, which keeps SIGINT to itself while a program runs: troubleshooting.md says so.
  ["kill -INT", "start", ["start", "--script-shell=bash"], "SIGINT"],
  ["kill -9", "start", ["start"], "SIGKILL"],
  ["kill -9", "run isthmus", ["run", "-s", "isthmus", "--", "up"], "SIGKILL"],
] as const)(
  "a %s of `npm %s` ends the gateway and its servers, and frees the port",
  { timeout: 60_000 },
  async (...row) => {
    const [, , args, signal] = row;
    const origin = `http://127.0.0.1:${await freePort()}`;
    await using clone = new Clone();
    const { npm, all } = await clone.run(args, origin);
    // npm, its shell, the gateway and the server of the demo.
    expect(all.length).toBeGreaterThanOrEqual(3);
    npm.kill(signal);
    expect(await waitForEnd(all, STOP_MS)).toEqual([]);
    expect(await isServing(origin)).toBe(false);
  },
);

test("Ctrl-C in the terminal of `npm start`, which npm hands on a second time, ends the gateway as one", {
  timeout: 60_000,
}, async () => {
  const origin = `http://127.0.0.1:${await freePort()}`;
  await using clone = new Clone();
  const { npm, all } = await clone.run(["start", "--script-shell=bash"], origin);
  const ended = once(npm, "exit");
  const call = spawn(process.execPath, [PROGRAM, "call", "demo.count", "to=10", "--url", origin], {
    env: { HOME: clone.folder },
  });
  const answer = text(call.stdout);
  await once(call.stderr, "data");
  // A terminal sends it to all that run in it.
  process.kill(-(npm.pid as number), "SIGINT");
  expect(await answer).toContain("Counted to 10.");
  expect(await ended).toEqual([0, null]);
  expect(await waitForEnd(all, STOP_MS)).toEqual([]);
});

test("what a verb of `npm run isthmus` tells to type can be typed as it stands", { timeout: 60_000 }, async () => {
  await using clone = new Clone();
  const env = { ...withoutNpm(), HOME: clone.folder, ISTHMUS_LISTEN: `127.0.0.1:${await freePort()}` };
  const options = { cwd: clone.folder, env, encoding: "utf8", timeout: STOP_MS } as const;
  const typed = (command: string) => spawnSync("sh", ["-c", command], options);
  const { stderr } = typed("npm run -s isthmus -- status");
  expect(stderr).toContain('"npm run -s isthmus -- up" starts one');
  const { stderr: unknown } = typed("npm run -s isthmus -- call nonsense.xyzzy");
  const { stderr: aliased } = typed("alias isthmus='npm run -s isthmus --'\nisthmus status");
  expect(aliased).toBe(stderr);
  const [, hint = ""] = /"([^"]* list)" shows all of them/.exec(unknown) ?? [];
  expect(typed(hint)).toMatchObject({ status: 0, stdout: expect.stringContaining("demo.greet") });
});

test("the answer of a call that waits at `npm start` names a command that can be typed as it stands", {
  timeout: 60_000,
}, async () => {
  const origin = `http://127.0.0.1:${await freePort()}`;
  await using clone = new Clone();
  await clone.run(["start"], origin);
  const call = async () => {
    const { messages } = await post(`${origin}/mcp`, toolCall(1, "demo.forget", { name: "Ada" }));
    return JSON.stringify(messages.at(-1)?.result);
  };
  const [, command = ""] = /run \\"(npm run -s isthmus -- approve \w+)\\"/.exec(await call()) ?? [];
  const env = { ...withoutNpm(), HOME: clone.folder, ISTHMUS_LISTEN: new URL(origin).host };
  const options = { cwd: clone.folder, env, encoding: "utf8", timeout: STOP_MS } as const;
  expect(spawnSync("sh", ["-c", command], options)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("Approved"),
  });
  expect(await call()).not.toContain("isError");
});

test.each([
  ["start", "--"],
  ["run", "-s", "isthmus", "--", "list"],
])(
  "`npm %s` leaves a file of variables to the gateway, whose Node obeys nothing in it",
  { timeout: 60_000 },
  async (...args) => {
    await using clone = new Clone();
    const evil = join(clone.folder, "evil.cjs");
    writeFileSync(evil, 'console.log("evil runs");\n');
    writeFileSync(join(clone.folder, "evil.env"), `NODE_OPTIONS=--require=${evil}\n`);
    const { status, stdout, stderr } = spawnSync("npm", [...args, "--env-file", "evil.env"], {
      cwd: clone.folder,
      env: { ...withoutNpm(), HOME: clone.folder, ISTHMUS_LISTEN: `127.0.0.1:${await freePort()}` },
      encoding: "utf8",
      timeout: STOP_MS,
    });
    expect(status).toBe(9);
    expect(stderr).toContain("sets NODE_OPTIONS, which is not for the gateway");
    expect(stdout).not.toContain("evil runs");
  },
);
