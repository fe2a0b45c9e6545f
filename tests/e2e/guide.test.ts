/** What the guide for both eras tells people to type is typed here. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startGateway } from "./kit/gateway.ts";
import { ROOT } from "./kit/program.ts";

const run = promisify(execFile);
const guide = readFileSync(join(ROOT, "docs/guide/two-eras.md"), "utf8");

function blocks(language: string): string[] {
  const found = guide.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"));
  return [...found].map(([, text = ""]) => text);
}

test("the config of docs/guide/two-eras.md starts, and every command in it does what it says", async () => {
  const [config = ""] = blocks("toml");
  const [call = "", key = "", discover = "", metrics = ""] = blocks("sh");
  const { stdout: sealKey } = await run("sh", ["-c", key]);
  await using gateway = await startGateway({
    config: config.replace("examples/", `${join(ROOT, "examples")}/`),
    env: { ISTHMUS_SEAL_KEY: sealKey.trim() },
  });
  const type = async (command: string) => {
    const text = command.replaceAll("http://127.0.0.1:7411", gateway.origin);
    return (await run("sh", ["-c", text], { timeout: 10_000 })).stdout;
  };
  const result = { content: [{ type: "text", text: "5" }], resultType: "complete" };
  expect(JSON.parse(await type(call))).toMatchObject({ id: 1, result });
  expect(JSON.parse(await type(discover))).toMatchObject({ result: { supportedVersions: ["2026-07-28"] } });
  expect(await type(metrics)).toContain('isthmus_calls_total{code="ok"} 1');
});
