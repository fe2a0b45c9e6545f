/** 200 broken config files: what a person reads about each, and that a gateway that runs is not hurt by any. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startGateway } from "../kit/gateway.ts";
import { runProgram } from "../kit/program.ts";
import { openSession, post, toolCall } from "../kit/rpc.ts";
import { BASE_CONFIG, BASE_ENV } from "./base-config.ts";
import { type Mutated, mutateConfig } from "./mutations.ts";
import { counter, until } from "./watching.ts";

const COUNT = 200;
const SEED = 20_261_115;
const SIDE_BY_SIDE = 4;
const TIMEOUT = 180_000;

const broken = mutateConfig(BASE_CONFIG, COUNT, SEED);

/** What is wrong with what the program said about a broken file; nothing when all is as promised. */
function complaints({ name, line, says }: Mutated, code: number | null, stdout: string, stderr: string): string[] {
  const lines = stderr.trimEnd().split("\n");
  const checks: readonly (readonly [string, boolean])[] = [
    ["ends with the exit code of a config that cannot be used", code === 3],
    ["says nothing on standard output", stdout === ""],
    [
      "is one block of lines that all begin alike",
      lines.every((text) => /^isthmus: (isthmus\.toml|and \d)/.test(text)),
    ],
    ["is short", lines.length <= 21 && lines.every((text) => text.length < 450)],
    ["names the line", line === undefined || lines.some((text) => text.startsWith(`isthmus: isthmus.toml:${line}:`))],
    ["says what was meant or what helps", says === undefined || stderr.includes(says)],
    ["shows no secret", !stderr.includes("hunter2")],
    ["shows no stack", !/\n\s+at /.test(stderr)],
  ];
  return checks.filter(([, isKept]) => !isKept).map(([promise]) => `${name}: ${promise}\n${stderr.slice(0, 500)}`);
}

describe("200 broken configs", () => {
  test("are 200 different files of many kinds", () => {
    expect(broken).toHaveLength(COUNT);
    expect(new Set(broken.map(({ name }) => name.replace(/^\d+ /, ""))).size).toBeGreaterThan(30);
  });

  test(
    "each end the program with code 3 and one message that names file, line and what helps",
    async () => {
      const queue = [...broken];
      const failures: string[] = [];
      const work = async () => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const { code, stdout, stderr } = await runProgram(["up"], { config: next.bytes, env: BASE_ENV });
          failures.push(...complaints(next, code, stdout, stderr));
        }
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
      expect(failures).toEqual([]);
    },
    TIMEOUT,
  );

  describe("fed to a gateway that runs", () => {
    let folder = "";
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), "isthmus-fire-"));
    });
    afterAll(() => {
      rmSync(folder, { recursive: true });
    });

    test(
      "change nothing, one after the other, and the good one at the end is taken",
      async () => {
        await using gateway = await startGateway({ config: BASE_CONFIG, env: BASE_ENV });
        const session = await openSession(gateway.url);
        const greet = async () => {
          const answer = await post(gateway.url, toolCall(1, "hello.greet", { name: "Ada" }), session);
          return answer.messages.at(-1)?.result?.content;
        };
        const put = (bytes: Buffer | string) => {
          writeFileSync(join(folder, "next"), bytes);
          renameSync(join(folder, "next"), join(gateway.program.folder, "isthmus.toml"));
          gateway.program.child.kill("SIGHUP");
        };
        const refused = () => counter(gateway.origin, 'isthmus_config_reloads_total{outcome="refused"}');
        for (const { name, bytes } of broken) {
          const before = await refused();
          put(bytes);
          await until(async () => ((await refused()) > before ? true : undefined), `refusal of ${name}`);
          expect(await greet(), name).toEqual([{ type: "text", text: "Hello, Ada!" }]);
        }
        expect(await counter(gateway.origin, "isthmus_config_stale")).toBe(1);
        expect(await counter(gateway.origin, 'isthmus_config_reloads_total{outcome="ok"}')).toBe(0);
        expect(gateway.program.stderr).not.toContain("hunter2");
        put(
          BASE_CONFIG.replace('id = "files"', 'id = "papers"')
            .replaceAll("files.", "papers.")
            .replace('prefix = "files"\n', ""),
        );
        await until(async () => {
          const { messages } = await post(gateway.url, { id: 2, method: "tools/list" }, session);
          return JSON.stringify(messages).includes('"papers.greet"') || undefined;
        }, "the good config");
        expect(await counter(gateway.origin, "isthmus_config_stale")).toBe(0);
        expect(await greet()).toEqual([{ type: "text", text: "Hello, Ada!" }]);
      },
      TIMEOUT,
    );
  });
});
