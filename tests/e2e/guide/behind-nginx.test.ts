import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { NginxRig } from "./nginx-rig.ts";
import { PageRunner } from "./page-runner.ts";

const CLIENT = fileURLToPath(new URL("./nginx-client.ts", import.meta.url));

test("clients of both eras stream through the nginx of the guide", { timeout: 60_000 }, async () => {
  await using page = await PageRunner.open();
  await using _ = await NginxRig.start(page);
  await page.run("docs/guide/behind-nginx.md");
  for (const era of ["legacy", "modern"]) {
    const config = join(page.work, "isthmus.toml");
    const client = page.start(["node", CLIENT, era, "http://127.0.0.1/mcp", config]);
    const timer = setTimeout(() => void client.stop(), 25_000);
    await client.ended;
    clearTimeout(timer);
    expect(client.printed()).toBe(`${era}: streams\n`);
  }
});
