/** Having the gateway open ever more connections to a server, until it has no files left for anybody else. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { helloServer } from "../e2e/kit/gateway.ts";
import { openSession } from "../e2e/kit/rpc.ts";
import { DIRECT, greet, startWithFewFiles } from "./kit/few-files.ts";
import { UngratefulServer } from "./kit/ungrateful-server.ts";

/** Of open files. */
const LIMIT = 256;
/** Connections of clients have half of the files that are left at the start, and those to servers half of the rest. */
const MOST_TO_SERVERS = LIMIT / 4;
const LOOKS = 12;
const LOOK_MS = 250;

const table = (id: string, url: string) =>
  `[[servers]]\nid = "${id}"\nurl = "${url}"\ntransport = "sse"\nsessions = "per-client"\n`;

test.each([
  ["one server", 1, 5],
  ["each of several servers", 5, 3],
])(
  "%s asks on and on in all sessions and takes no answer: there are files left for others",
  async (_who, servers, sessions) => {
    await using stack = new AsyncDisposableStack();
    const hostile = await Promise.all(Array.from({ length: servers }, () => UngratefulServer.start()));
    for (const one of hostile) stack.use(one);
    const tables = hostile.map(({ url }, at) => table(`evil${at}`, url)).join("");
    const gateway = stack.use(await startWithFewFiles(DIRECT, LIMIT, `${helloServer()}${tables}`));
    const url = `http://127.0.0.1:${gateway.port}/mcp`;
    expect(await greet(gateway)).toContain("Hello, Ann!");
    for (let number = 0; number < sessions; number++) await openSession(url);
    let most = 0;
    for (let look = 0; look < LOOKS; look++) {
      expect(await greet(gateway)).toContain("Hello, Ann!");
      most = Math.max(most, readdirSync(`/proc/${gateway.child.pid}/fd`).length);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    // They were answered at all.
    expect(Math.max(...hostile.map((one) => one.most))).toBeGreaterThan(0);
    expect(hostile.reduce((sum, one) => sum + one.most, 0)).toBeLessThanOrEqual(MOST_TO_SERVERS);
    expect(most).toBeLessThan(LIMIT / 2);
    expect(gateway.log()).not.toMatch(/EMFILE|ENFILE|too many connections/);
  },
);
