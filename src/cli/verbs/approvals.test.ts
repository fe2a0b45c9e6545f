import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { makeOperatorKey } from "../operator/operator-key.ts";
import { approvals, type DecideOptions, decide } from "./approvals.ts";

const digestOf = (text: string) => createHash("sha256").update(text).digest("base64url");
const idOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;

function waiting(number: number, text: string, more: object = {}) {
  return {
    confirmation_id: idOf(number),
    state: "waiting",
    tool: "plant.open",
    // As a gateway's JavaScript reads them.
    arguments: JSON.parse(text) as unknown,
    arguments_text: text,
    args_sha256: digestOf(text),
    nonce: "n",
    gate_aggregator_id: "g",
    reason: "irreversible_mutable",
    evidence: "external_proof",
    requester: { principal: "p", user: "ada", tenant: "default" },
    expires_at: "2026-01-01T00:00:00Z",
    ...more,
  };
}

let folder: string;
let key: string;
let server: Server;
let url: string;
/** Newest first. */
let calls: ReturnType<typeof waiting>[];
/** What a list says of them, where that is something else. */
let listed: object[] | undefined;
let confirmed: string[];
/** For which lists. */
let asked: string[];
let stdout: string;
let stderr: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-approve-"));
  key = makeOperatorKey(join(folder, "operator.key")).file;
  [calls, listed, confirmed, asked, stdout, stderr] = [[], undefined, [], [], "", ""];
  server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://gateway");
    const [, id] = /^\/api\/approvals\/(.+)$/.exec(pathname) ?? [];
    const one = calls.find(({ confirmation_id }) => confirmation_id === id);
    if (pathname === "/mcpax/confirm") confirmed.push(pathname);
    if (id !== undefined && !one) response.statusCode = 404;
    if (pathname === "/mcpax/confirm") response.end('{"result":{"status":"approved"}}');
    else {
      const start = searchParams.get("id") ?? "";
      const all: readonly object[] = listed ?? calls.filter(({ confirmation_id }) => confirmation_id.startsWith(start));
      if (searchParams.has("limit")) asked.push(searchParams.toString());
      const approvals = all.slice(0, Number(searchParams.get("limit")));
      response.end(JSON.stringify(one ?? { approvals, total: all.length }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    stdout += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
  server.close();
  rmSync(folder, { recursive: true });
});

/** Somebody at a terminal, who has typed this. */
function person(typed: string) {
  const input = new PassThrough();
  input.end(typed);
  return { input, output: new PassThrough() };
}

const approve = (number: number, options: DecideOptions = {}, terminal?: ReturnType<typeof person>) =>
  decide("approve", idOf(number), { key, url, ...options }, terminal);

describe("whoever decides at a terminal", () => {
  test.each(["n\n", "\n", "yess\n", ""])("is asked before anything is signed, and %j is no yes", async (typed) => {
    calls = [waiting(1, '{"valve":"v-3"}')];
    await expect(approve(1, {}, person(typed))).rejects.toThrow("nothing was decided");
    expect(stdout).toContain('arguments  {"valve":"v-3"}');
    expect(confirmed).toEqual([]);
    await expect(approve(1, { print: true }, person(typed))).rejects.toThrow("nothing was decided");
    expect(stdout).not.toContain("eyJ");
  });

  test("signs with a yes, and with --yes without a question", async () => {
    calls = [waiting(1, "{}")];
    await approve(1, {}, person("y\n"));
    await approve(1, { yes: true }, person(""));
    expect(confirmed).toHaveLength(2);
  });

  test("is asked beside what is printed for programs", async () => {
    calls = [waiting(1, "{}")];
    await approve(1, { json: true }, person("y\n"));
    expect(JSON.parse(stdout)).toEqual({ status: "approved", confirmation_id: idOf(1) });
    expect(stderr).toContain("plant.open");
  });
});

describe("what is shown", () => {
  test("is what was sent: numbers as they are, every blank, and whatever hides", async () => {
    calls = [waiting(1, '{"amount":1e400,"s":"a   b\u200b\u202ec\u00a0","to":12345678901234567891}')];
    await approve(1);
    expect(stdout).toContain(
      'arguments  {"amount":1e400,"s":"a \\u{20}\\u{20}b\\u{200b}\\u{202e}c\\u{a0}","to":12345678901234567891}\n',
    );
  });

  test.each([
    ["other arguments than those of the digest", { arguments_text: '{"harmless":true}' }],
    ["arguments without their text", { arguments_text: undefined }],
  ])("is not signed where it is %s", async (_what, more) => {
    calls = [waiting(1, '{"cmd":"rm -rf /"}', more)];
    await expect(approve(1)).rejects.toThrow("not what would be signed");
    await expect(approve(1, { print: true })).rejects.toThrow("not what would be signed");
    expect(confirmed).toEqual([]);
    expect(stdout).toBe("");
  });

  test("in the list is the beginning of what is long, and all of it before anything is decided", async () => {
    const whole = waiting(1, `{"a":"${"x".repeat(5_000)}"}`);
    const { arguments: _read, arguments_text: text, ...rest } = whole;
    calls = [whole];
    listed = [{ ...rest, long_input: { beginning: text.slice(0, 10), characters: text.length } }];
    await approvals({ url });
    expect(stdout).toContain(`(${text.length} characters, all of which "approve" shows) ${text.slice(0, 10)}\n`);
    await decide("approve", undefined, { key, url, latest: true });
    await decide("approve", idOf(1).slice(0, 8), { key, url });
    expect(stdout.split(`arguments  ${text}`)).toHaveLength(3);
    expect(confirmed).toHaveLength(2);
  });

  test("in the list are the arguments, too, whole where no terminal bounds them", async () => {
    calls = [waiting(2, '{"short":"a  b"}'), waiting(1, `{"long":"${"x".repeat(200)}"}`)];
    await approvals({ url });
    const [, , short, , long] = stdout.split("\n");
    expect(short).toBe('  {"short":"a \\u{20}b"}');
    expect(long).toBe(`  {"long":"${"x".repeat(200)}"}`);
  });
});

describe("a call behind two hundred others", () => {
  beforeEach(() => {
    calls = [...Array.from({ length: 200 }, (_, index) => waiting(index + 2, "{}")), waiting(1, '{"mine":1}')];
  });

  test("is found by its whole id", async () => {
    await approve(1);
    expect(stdout).toContain('{"mine":1}');
    expect(confirmed).toHaveLength(1);
  });

  test("is known to be missing in the list, with how to see it", async () => {
    await approvals({ url });
    expect(stderr).toContain("1 more wait: --user NAME or --principal ID shows those of one caller");
    await approvals({ url, user: "ada" });
    expect(asked).toEqual(["limit=200&state=waiting", "limit=200&state=waiting&user=ada"]);
  });

  test("is found by as much of its id as tells it from others", async () => {
    const mine = waiting(1, '{"mine":2}', { confirmation_id: `fe87${idOf(1).slice(4)}` });
    calls = [...calls, mine];
    await decide("approve", "fe87", { key, url });
    expect(stdout).toContain('{"mine":2}');
    await expect(decide("approve", "0000", { key, url })).rejects.toThrow("several ids begin");
    await expect(decide("approve", "fe%", { key, url })).rejects.toThrow("no call");
    expect(confirmed).toHaveLength(1);
  });
});

test.each<[string, ReturnType<typeof waiting>[], string]>([
  ["is not there", [], "waits for an approval"],
  ["was decided", [waiting(1, "{}", { state: "approved", decided_by: "op" })], "was approved by op"],
])("a call that %s is not decided", async (_what, known, said) => {
  calls = known;
  await expect(approve(1)).rejects.toThrow(said);
  expect(confirmed).toEqual([]);
});

describe("a call about which nothing is to be decided any more", () => {
  const over = (state: string) => {
    const { arguments: _none, arguments_text: _text, ...one } = waiting(4527, "{}", { state, decided_by: "op" });
    return one;
  };

  test.each([
    ["approved", "was approved by op: it is made when its caller makes it again, until 2026-01-01T00:00:00Z"],
    ["consumed", "was approved by op, and made"],
    ["denied", "was denied by op: nobody is asked about it again before 2026-01-01T00:00:00Z"],
    ["expired", "expired at 2026-01-01T00:00:00Z: its caller asks again by making it again"],
    ["withdrawn", "was withdrawn by op: its caller asks again by making it again"],
  ])("is said to be what it is, by its id and by as much as tells it from others: %s", async (state, said) => {
    calls = [over(state) as ReturnType<typeof waiting>];
    await expect(approve(4527)).rejects.toThrow(`(plant.open) ${said}`);
    await expect(decide("deny", "0000", { key, url })).rejects.toThrow(said);
    expect(confirmed).toEqual([]);
  });

  test("is one of those that wait where it is not known", async () => {
    await expect(decide("approve", "4527", { key, url })).rejects.toThrow('no call "4527" waits for an approval');
    await expect(decide("approve", undefined, { key, url, latest: true })).rejects.toThrow("no call waits");
  });

  test("takes one line of the list: its arguments are gone", async () => {
    listed = [over("denied"), over("expired")];
    await approvals({ url, all: true });
    expect(stdout.trimEnd().split("\n")).toHaveLength(3);
    expect(stdout).not.toMatch(/\n\s*\n/);
  });
});
