/** Having a server's processes started without end, by one caller, where they take their time to end. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openSession, post, toolCall } from "../e2e/kit/rpc.ts";
import { commandLineOf, listProcesses } from "../kit/process-table.ts";
import { openTo, PEOPLE } from "./kit/config-parts.ts";
import { type Attacked, describeAttacks } from "./kit/describe-attacks.ts";

const PROGRAM = "clinging-server.mjs";
const PATH = fileURLToPath(new URL(`./kit/${PROGRAM}`, import.meta.url));
/** Of it one user has a quarter, in each process. */
const MAX_SESSIONS = 16;
const SHARE = 4;
const TRIES = 48;
const AT_ONCE = 12;
/** Sessions of somebody else, meanwhile. */
const OTHERS = 3;
const LOOK_MS = 50;

const META = "io.modelcontextprotocol/";
const CAN_BE_ASKED = { elicitation: {} };
const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };

/** How many processes of the server run. */
function running(): number {
  return listProcesses().filter(({ pid, isZombie }) => !isZombie && commandLineOf(pid).includes(PATH)).length;
}

async function serve(field: Attacked, user: string): Promise<string> {
  const url = `${field.origin()}/mcp`;
  const session = { ...(await openSession(url, CAN_BE_ASKED, field.as(user))), ...field.as(user) };
  const { messages } = await post(url, toolCall(1, "s.stay", {}), session);
  await fetch(url, { method: "DELETE", headers: session });
  return JSON.stringify(messages.at(-1)?.result ?? messages.at(-1)?.error);
}

const config = openTo("s", PROGRAM, `maxSessions = ${MAX_SESSIONS}`);

describeAttacks("a server that is slow to end", { config, tokens: PEOPLE }, (field) => {
  type Attack = (user: string, number: number) => Promise<unknown>;
  const endAtOnce: Attack = async (user) => {
    const url = `${field.origin()}/mcp`;
    const headers = { ...(await openSession(url, CAN_BE_ASKED, field.as(user))), ...field.as(user) };
    await fetch(url, { method: "DELETE", headers });
  };
  const alwaysAnew: Attack = (user, number) => {
    const params = {
      _meta: {
        [`${META}protocolVersion`]: "2026-07-28",
        [`${META}clientInfo`]: { name: "attacker", version: "1" },
        [`${META}clientCapabilities`]: { ...CAN_BE_ASKED, experimental: { [`x${number}`]: {} } },
      },
    };
    return post(`${field.origin()}/mcp`, { id: 1, method: "tools/list", params }, { ...modern, ...field.as(user) });
  };

  test.each<[string, readonly string[], string, Attack]>([
    ["sessions that end as soon as they have begun", ["ann"], "bob", endAtOnce],
    ["the same, with two tokens", ["dan", "dans"], "cat", endAtOnce],
    ["requests of 2026 with ever new capabilities", ["eve"], "gil", alwaysAnew],
  ])(
    "runs no more processes for one user than its share, and others are served: %s",
    async (_, users, other, attack) => {
      const before = running();
      let most = 0;
      const watch = setInterval(() => {
        most = Math.max(most, running() - before);
      }, LOOK_MS);
      let number = 0;
      const keepOn = async () => {
        while (number < TRIES) {
          const user = users[number % users.length] ?? "";
          // Who is told to come back later comes at once.
          await attack(user, number++).catch(() => undefined);
        }
      };
      const attackers = Promise.all(Array.from({ length: AT_ONCE }, keepOn));
      try {
        for (let turn = 0; turn < OTHERS; turn++) expect(await serve(field, other)).toContain("STAYED");
        await attackers;
      } finally {
        clearInterval(watch);
      }
      expect(most).toBeGreaterThan(0);
      // The other's own are slow to end, too.
      expect(most).toBeLessThanOrEqual(SHARE * field.processes + OTHERS);
      expect(await serve(field, users[0] ?? "")).toContain("STAYED");
    },
  );
});
