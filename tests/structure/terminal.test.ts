import { describe, expect, test } from "vitest";
import { SENTENCES, WORDS } from "../../src/cli/output/terminal-words.ts";
import { listFiles, readText } from "./repo-files.ts";

/** Takes out of every text what steers a terminal. */
const CONSOLE = "src/cli/output/console.ts";

test("no verb writes to the terminal but through the one file that lets no text steer it", () => {
  const files = listFiles("src/cli", ".ts").filter((file) => !file.endsWith(".test.ts") && file !== CONSOLE);
  expect(files.filter((file) => /\b(?:stdout|stderr)\.write\(/.test(readText(file)))).toEqual([]);
});

test("what a verb tells to type begins with the program as it was called", () => {
  const files = listFiles("src/cli", ".ts").filter((file) => !file.endsWith(".test.ts"));
  const byHand = files.flatMap((file) => {
    const code = readText(file).replace(/\/\*\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    return [...code.matchAll(/"isthmus [a-z][^"]*"|run isthmus [a-z ]*/g)].map(([hint]) => `${file}: ${hint}`);
  });
  expect(byHand).toEqual([]);
});

/** Messages that say by themselves what has happened, to what and why. `…`: depends. */
const PLAIN = `
… …
… are exported again
… could not be exported
a block is about a name that nothing has now
a message of the server could not be taken
a notice failed inside the gateway
a row of the policy cannot be read: until it can, nothing more is allowed to anybody
a signed revocation cannot be taken
a signed revocation holds for nothing now
a signed revocation is written as none is, and taken as meant
a table in the policy is none that can be added, …
a token could not be revoked where it was issued
a token was not revoked where it was issued: there are too many
answers of calls with idempotency keys are forgotten before 24 hours are over: there are too many
audit events are in memory until this process ends: it keeps no state
audit events are kept again
audit events are lost
audit events could not be written to their file
audit events of former processes are kept
audit events of former processes wait for the store
audit events wait for the store
authentication failed inside the gateway
call failed inside the gateway
confirmation failed inside the gateway
consent failed
consent failed inside the gateway
credentials travel in the clear unless something before the gateway speaks TLS
http server failed
instructions of the server cut: they are too long
issuer's keys not read
limits of a tenant cannot be read: those before stay in force
list cut short
list entries left out
looking again at who listens failed inside the gateway
more has changed
no checkpoint of the audit trail
no checkpoint of the audit trail was kept: what was cut off before cannot be told
not everything is pinned
notifications of a caller dropped: they are too many
operation failed
operator token cannot be used
page of an approval failed
pins are kept in memory only
policy cannot be read, the last known one stays in force
request failed
request failed inside the gateway
secrets cannot be read, the former ones stay
server could not be listed
the audit trail was cut back, or is another one: it lacks its kept checkpoint
the audit trail was not compared with its kept checkpoint
the kept checkpoint of the audit trail cannot be read now, and is looked at again
the page at / could not be made
tokens could not be revoked
tokens of servers could not be forgotten
tools left out
what operators have set could not be read
what the bearer of a revoked token has open could not be ended everywhere
`
  .trim()
  .split("\n");

const LOGGED =
  /(?:\.(?:info|warn|error)|\blog\[level\]|\bwrite\.call|\bRepeatedWarning)\((?:\s*[\w.#]+,)*\s*(["`])((?:(?!\1).)*)\1(?!, "debug")/g;
const NOT_WRITTEN_OUT = /\blog\.(?:info|warn|error)\(\s*[^\s"`].*/gi;

describe("what the log says on a terminal", () => {
  const code = listFiles("src", ".ts")
    .filter((file) => !/\.test\.ts$|\/fixtures\//.test(file))
    .map(readText)
    .join("\n");

  test("is a sentence for whoever runs the gateway: of terminal-words.ts, or the message, which is plain enough", () => {
    const logged = [...code.matchAll(LOGGED)].map(([, , text = ""]) => text.replaceAll(/\$\{.*?\}/g, "…"));
    const told = [...Object.keys(WORDS), ...Object.keys(SENTENCES), ...PLAIN];
    expect([...new Set(logged)].sort()).toEqual(told.sort());
  });

  test("stands where it is logged", () => {
    expect(code.match(NOT_WRITTEN_OUT)).toBeNull();
  });
});
