import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { atOnce } from "../../../../tests/kit/at-once.ts";
import { monotonicClock } from "../../../../tests/kit/fake-host.ts";
import type { Slices } from "../../../contract/index.ts";
import { isGroupRunning } from "./process-group.ts";
import type { Child, ChildExit, ChildOptions } from "./spawn-child.ts";
import { spawnChild } from "./spawn-child.ts";
import { createWatchdog } from "./watchdog.ts";

const watchdog = createWatchdog();
const children: Child[] = [];
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
});
afterAll(() => watchdog.close());

type Started = { child: Child; lines: string[]; exit: Promise<ChildExit> };

function start(script: string, options: Partial<ChildOptions> = {}): Started {
  const lines: string[] = [];
  const { promise: exit, resolve } = Promise.withResolvers<ChildExit>();
  const child = spawnChild({
    command: "sh",
    args: ["-c", script],
    env: {},
    parentEnv: process.env,
    watchdog,
    maxLineBytes: 1024 * 1024,
    pace: { clock: monotonicClock, slices: atOnce },
    graceMs: 150,
    onLine: (line) => lines.push(line),
    onExit: resolve,
    ...options,
  });
  children.push(child);
  return { child, lines, exit };
}

describe("spawnChild", () => {
  test("relays lines in both directions byte for byte", async () => {
    const { child, lines } = start("cat");
    const text = Buffer.from('{"a":"\u20ac"}').toString("latin1");
    expect(child.write(text)).toBe(true);
    child.write("\u00ff\u0001");
    await vi.waitFor(() => expect(lines).toEqual([text, "\u00ff\u0001"]));
  });

  test("reports the exit code after the last line", async () => {
    const { lines, exit } = start("echo one; printf 'two\\r\\n\\nthree\\nrest'; exit 3");
    expect(await exit).toEqual({ code: 3, signal: null });
    expect(lines).toEqual(["one", "two", "three"]);
  });

  test.each([100, 8_000])("reports the exit behind %i lines that take longer than the child lives", async (count) => {
    let now = 0;
    const slices: Slices = {
      run: (steps) =>
        new Promise((resolve, reject) => {
          const turn = () => {
            try {
              const { done, value } = steps.next();
              if (done) resolve(value);
              else setImmediate(turn);
            } catch (error) {
              reject(error);
            }
          };
          setImmediate(turn);
        }),
    };
    const pace = { clock: { now: () => now }, slices };
    const heard: string[] = [];
    const onLine = (line: string) => {
      heard.push(line);
      now += 0.5;
    };
    const { exit } = start(`i=0; while [ $i -lt ${count} ]; do echo "line $i"; i=$((i+1)); done; echo answer`, {
      pace,
      onLine,
    });
    expect(await exit).toEqual({ code: 0, signal: null });
    expect([heard.length, heard.at(-1)]).toEqual([count + 1, "answer"]);
  });

  test("reports the signal that ended it", async () => {
    expect(await start("kill -9 $$").exit).toEqual({ code: null, signal: "SIGKILL" });
  });

  test.each([
    [
      "a command that does not exist",
      { command: "isthmus-no-such-command" },
      /"isthmus-no-such-command": command not found \(ENOENT\)/,
    ],
    [
      "a directory that does not exist",
      { cwd: "/isthmus-no-such-directory" },
      /the directory \/isthmus-no-such-directory does not exist/,
    ],
    ["a command that is not executable", { command: "/etc/passwd" }, /not executable/],
    ["a command that is not even a name", { command: "a\0b" }, /cannot start/],
  ])("names the cause for %s", async (_what, options, message) => {
    const { child, exit } = start("", options);
    expect(child.pid).toBeUndefined();
    child.write("x");
    expect(await exit).toMatchObject({ code: null, signal: null, error: { message: expect.stringMatching(message) } });
    await child.kill();
  });

  test("gives the child a few harmless variables and what the config adds", async () => {
    const parentEnv = { PATH: process.env.PATH, HOME: "/home/x", SECRET: "s", SHELL: "() { :; }" };
    const { lines, exit } = start("env", { parentEnv, env: { TOKEN: "t", HOME: "/home/y" } });
    await exit;
    expect(lines).toEqual(expect.arrayContaining(["TOKEN=t", "HOME=/home/y"]));
    expect(lines.join()).not.toMatch(/SECRET|SHELL/);
  });

  test("keeps the end of standard error, decoded, and no more than 8 KiB of it", async () => {
    const pieces: string[] = [];
    const script =
      "i=0; while [ $i -lt 2000 ]; do echo 'line of text' >&2; i=$((i+1)); done; printf 'fin \\303\\251' >&2; exit 1";
    const { child, exit } = start(script, { onStderr: (text) => pieces.push(text) });
    await exit;
    expect(child.stderrTail()).toHaveLength(8192);
    expect(child.stderrTail().endsWith("fin \u00e9")).toBe(true);
    expect(pieces.join("")).toHaveLength(2000 * 13 + 5);
  });

  test("shows of standard error neither a secret that it was given nor the password of the proxy", async () => {
    const pieces: string[] = [];
    const script =
      'printf "key $KEY\\n" >&2; printf %s "$KEY" | cut -c1-6 >&2; printf %s "$KEY" | cut -c7- >&2; ' +
      'printf %s "$KEY" | base64 >&2; echo "via $https_proxy" >&2; printf "half ${KEY%9876}" >&2; exit 1';
    const { child, exit } = start(script, {
      env: { KEY: "planted-5f1c9876", https_proxy: "http://ann:planted-proxy@host:1" },
      secrets: ["planted-5f1c9876"],
      onStderr: (text) => pieces.push(text),
    });
    await exit;
    const shown = "key [secret]\n[secret]\n\n[secret]\nvia http://ann:[secret]@host:1\nhalf [secret]";
    expect(child.stderrTail()).toBe(shown);
    expect(pieces.join("")).toBe(shown);
  });

  test("tells all of standard error before the exit, also what might have been the beginning of a secret", async () => {
    // Which of its pipes closes last is a matter of chance: ten have the chance.
    const heard = Array.from({ length: 10 }, () => {
      const pieces: string[] = [];
      const { promise, resolve } = Promise.withResolvers<string>();
      start("exec >&-; echo 'TICKETS_URL is not set' >&2; exit 1", {
        secrets: ["t0p-secret"],
        onStderr: (text) => pieces.push(text),
        onExit: () => resolve(pieces.join("")),
      });
      return promise;
    });
    expect(new Set(await Promise.all(heard))).toEqual(new Set(["TICKETS_URL is not set\n"]));
  });

  test("reads a line of 50 MB", { timeout: 20_000 }, async () => {
    const bytes = 50 * 1024 * 1024;
    const { lines, exit } = start(`head -c ${bytes} /dev/zero | tr '\\0' x; echo`, { maxLineBytes: bytes });
    await exit;
    expect(lines.map((line) => line.length)).toEqual([bytes]);
  });

  test("ends a child that writes a line over the bound, and says so", async () => {
    const { child, exit } = start("yes xxxxxxxxx | tr -d '\\n'", { maxLineBytes: 100_000 });
    expect(await exit).toMatchObject({ error: { message: "wrote a line of more than 100000 bytes" } });
    await child.kill();
    expect(await isGroupRunning(child.pid as number)).toBe(false);
  });

  test("ends a child whose line could not be taken, and says why", async () => {
    const onLine = () => {
      throw new Error("not a message");
    };
    expect(await start("echo x; sleep 100", { onLine }).exit).toMatchObject({ error: { message: "not a message" } });
  });

  test("says when the pipe is full and when it is not any more", async () => {
    const onDrain = vi.fn();
    const { child, lines } = start("read go; cat", { onDrain });
    const line = "x".repeat(1000);
    let sent = 0;
    while (sent < 100_000) {
      sent++;
      if (!child.write(line)) {
        await new Promise((resolve) => setImmediate(resolve));
        if (!child.write(line)) break;
        sent++;
      }
      if (sent % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(100_000);
    await vi.waitFor(() => expect(onDrain).toHaveBeenCalled());
    child.endInput();
    await vi.waitFor(() => expect(lines).toHaveLength(sent));
  });

  test("tells of the drain also when only the batch of one turn was large", async () => {
    const onDrain = vi.fn();
    const { child } = start("cat >/dev/null", { onDrain });
    expect(child.write("x".repeat(70_000))).toBe(false);
    expect(onDrain).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(onDrain).toHaveBeenCalledOnce());
    expect(child.write("x")).toBe(true);
  });

  test("a paused child blocks, and nothing it wrote is lost", async () => {
    const { child, lines, exit } = start("yes 0123456789 | head -n 200000");
    child.pause();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(lines.length).toBeLessThan(20_000);
    child.resume();
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(lines).toHaveLength(200_000);
  });

  test("survives writes to a child that is gone or reads no more", async () => {
    const { child, exit } = start("exec 0<&-; echo closed; sleep 100");
    for (let count = 0; count < 20; count++) {
      child.write("x");
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect((await exit).signal).toBe("SIGTERM");
    expect(child.write("x")).toBe(false);
  });
});

describe("kill", () => {
  test("lets a child go that ends with its input", async () => {
    const { child, exit } = start("cat; exit 7");
    child.write("last words");
    await Promise.all([child.kill(), child.kill()]);
    expect(await exit).toEqual({ code: 7, signal: null });
  });

  test("sends SIGTERM to a child that stays, and SIGKILL to one that ignores it", async () => {
    const polite = start("trap 'exit 9' TERM; while :; do sleep 0.02; done");
    const stubborn = start("trap '' TERM; echo up; while :; do sleep 0.02; done");
    await vi.waitFor(() => expect(stubborn.lines).toEqual(["up"]));
    await Promise.all([polite.child.kill(), stubborn.child.kill()]);
    expect(await polite.exit).toEqual({ code: 9, signal: null });
    expect(await stubborn.exit).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("takes grand-children along", async () => {
    const { child, lines } = start(`sh -c "trap '' TERM; echo up; while :; do sleep 0.02; done" & wait`);
    await vi.waitFor(() => expect(lines).toEqual(["up"]));
    await child.kill();
    expect(await isGroupRunning(child.pid as number)).toBe(false);
  });

  test("sweeps up what a child left behind when it ended by itself", async () => {
    const { child, exit } = start("sleep 1000 & exit 4");
    expect(await exit).toEqual({ code: 4, signal: null });
    await child.kill();
    expect(await isGroupRunning(child.pid as number)).toBe(false);
  });

  test("reports the exit even when a process outside the group holds the pipes", async () => {
    const { exit } = start(
      `${JSON.stringify(process.execPath)} -e 'require("node:child_process").spawn("sleep", ["2"], { detached: true, stdio: "inherit" }).unref()'; exit 5`,
    );
    expect(await exit).toEqual({ code: 5, signal: null });
  });
});
