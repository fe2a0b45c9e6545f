import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test, vi } from "vitest";
import { commandLineOf, listProcesses } from "../../../../tests/kit/process-table.ts";
import { createWatchdog } from "./watchdog.ts";

/** Processes of a group that really run; zombies do not count, who collects them depends on the machine. */
function membersOf(pgid: number): number {
  return listProcesses().filter(({ group, isZombie }) => group === pgid && !isZombie).length;
}

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function sleeper(): number {
  const child = spawn("sleep", ["1000"], { detached: true, stdio: "ignore" });
  const pid = child.pid as number;
  cleanups.push(() => child.kill("SIGKILL"));
  return pid;
}

describe("createWatchdog", () => {
  test("ends a tree that ignores SIGTERM when the gateway is killed with SIGKILL", { timeout: 20_000 }, async () => {
    const script = fileURLToPath(new URL("fixtures/doomed-parent.mjs", import.meta.url));
    const parent = spawn(process.execPath, ["--experimental-strip-types", "--no-warnings", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    cleanups.push(() => parent.kill("SIGKILL"));
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const [tree = 0, watchdog = 0] = line.toString().split(" ").map(Number);
    cleanups.push(() => {
      try {
        process.kill(-tree, "SIGKILL");
      } catch {}
    });
    expect(membersOf(tree)).toBeGreaterThanOrEqual(2);
    expect(membersOf(watchdog)).toBe(1);
    parent.kill("SIGKILL");
    await vi.waitFor(() => expect(membersOf(tree) + membersOf(watchdog)).toBe(0), { timeout: 5000, interval: 100 });
  });

  test("ends what is registered when it is closed, and leaves alone what is not", async () => {
    const [kept, ended, other] = [sleeper(), sleeper(), sleeper()];
    const watchdog = createWatchdog();
    for (const pgid of [kept, ended, other]) watchdog.watch(pgid);
    watchdog.unwatch(kept);
    watchdog.unwatch(kept);
    const pid = watchdog.pid as number;
    watchdog.close();
    watchdog.close();
    await vi.waitFor(() => expect(membersOf(ended) + membersOf(other)).toBe(0), { timeout: 3000 });
    await vi.waitFor(() => expect(membersOf(pid)).toBe(0), { timeout: 3000 });
    expect(membersOf(kept)).toBe(1);
  });

  test("finds a child that was announced and whose group it was never told, with what that started", async () => {
    const [watchdog, other] = [createWatchdog(), sleeper()];
    const mark = watchdog.announce();
    const child = spawn("/bin/sh", ["-c", "sleep 1000 & sleep 1000"], { detached: true, stdio: "ignore", env: mark });
    const pid = child.pid as number;
    cleanups.push(() => child.kill("SIGKILL"));
    await vi.waitFor(() => expect(membersOf(pid)).toBe(3));
    watchdog.close();
    await vi.waitFor(() => expect(membersOf(pid)).toBe(0), { timeout: 5000 });
    expect(membersOf(other)).toBe(1);
  });

  test("starts nothing before the first child and one process for many", async () => {
    const watchdog = createWatchdog();
    expect(watchdog.pid).toBeUndefined();
    watchdog.announce();
    const pid = watchdog.pid as number;
    watchdog.watch(sleeper());
    watchdog.watch(sleeper());
    expect(watchdog.pid).toBe(pid);
    watchdog.close();
    await vi.waitFor(() => expect(membersOf(pid)).toBe(0), { timeout: 3000 });
  });

  test("outlives the signals that a terminal or an init system sends", async () => {
    const watchdog = createWatchdog();
    const group = sleeper();
    watchdog.watch(group);
    const pid = watchdog.pid as number;
    await vi.waitFor(() => expect(commandLineOf(pid)).toContain("trap"));
    await new Promise((resolve) => setTimeout(resolve, 50)); // the shell needs a moment to set its traps
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const) process.kill(pid, signal);
    watchdog.close();
    await vi.waitFor(() => expect(membersOf(group)).toBe(0), { timeout: 3000 });
  });

  test("is replaced when it is killed, with all that was registered", async () => {
    const watchdog = createWatchdog();
    const group = sleeper();
    watchdog.watch(group);
    const first = watchdog.pid as number;
    await new Promise((resolve) => setTimeout(resolve, 1050)); // one that dies sooner is not replaced at once
    process.kill(first, "SIGKILL");
    await vi.waitFor(() => expect(watchdog.pid).not.toBe(first));
    expect(watchdog.pid).toBeDefined();
    watchdog.close();
    await vi.waitFor(() => expect(membersOf(group)).toBe(0), { timeout: 3000 });
  });
});
