import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FakeMeter, silentLog } from "../../../tests/kit/fake-host.ts";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { KeptLog } from "../../../tests/kit/quiet.ts";
import { ScriptedProvider } from "../../../tests/kit/scripted-provider.ts";
import { flush, testKernel } from "../../../tests/kit/test-kernel.ts";
import { finish, type Offer, payload, type Steps } from "../../contract/index.ts";
import type { Config } from "../config/index.ts";
import { loadConfig } from "../config/load-config.ts";
import { readConfig } from "../config/read-config.ts";
import { type ApprovalPorts, createApprovals } from "./approvals.ts";

function* asWritten(offers: readonly Offer[]): Steps<readonly Offer[]> {
  yield;
  return offers;
}

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "isthmus-pages-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function configOf(text: string): Config {
  const file = join(folder, "isthmus.toml");
  writeFileSync(file, text);
  return loadConfig(readConfig([file]), { env: {} });
}

function approvalsFor(text: string, time = new ManualTime(), more: Partial<ApprovalPorts> = {}) {
  const ports = { clock: time, timers: time, log: silentLog, meter: new FakeMeter() };
  return createApprovals({
    ...ports,
    config: configOf(text),
    hasRules: () => false,
    refusal: () => undefined,
    isRevoked: () => false,
    offered: () => undefined,
    ...more,
  });
}

test("what is over is swept from the start, before anybody asks for anything, and no longer than until the end", async () => {
  const time = new ManualTime();
  const approvals = approvalsFor("", time);
  expect(time.pending).toBe(0);
  approvals.open();
  expect(time.pending).toBe(1);
  time.advance(5_000);
  await new Promise(setImmediate);
  expect(time.pending).toBe(1);
  await approvals.close();
  expect(time.pending).toBe(0);
});

describe("the pages of approvals", () => {
  test.each([
    ["", "127.0.0.1", "http://127.0.0.1:7411"],
    ["", "::1", "http://[::1]:7411"],
    ["", "0.0.0.0", undefined],
    ["", "::", undefined],
    ['[vault]\npublicUrl = "https://gw.example.com"', "0.0.0.0", "https://gw.example.com"],
    ['[auth]\nresource = "https://gw.example.com/mcp"', "0.0.0.0", "https://gw.example.com"],
  ])("with %j at %s are at %s", (text, host, pages) => {
    const approvals = approvalsFor(text);
    expect(approvals.desk.pages).toBeUndefined();
    approvals.listensOn({ host, port: 7411 });
    expect(approvals.desk.pages).toBe(pages);
  });

  test("move when the config says so, and nothing that was approved is lost by that", () => {
    const approvals = approvalsFor("");
    approvals.listensOn({ host: "127.0.0.1", port: 7411 });
    expect(approvals.apply(configOf('[vault]\npublicUrl = "https://gw.example.com"\n[gate]\nask = "never"'))).toBe(
      false,
    );
    expect(approvals.desk.pages).toBe("https://gw.example.com");
  });
});

describe("the log line of a call that waits", () => {
  const STRICT = '[gate]\nmode = "strict"\n';
  const SIGNED = `${STRICT}evidence = "external_proof"\n`;
  const ANCHOR =
    '[[gate.anchors]]\nkey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKkLlTzTk9Y0RtZ0ZQ0XQk3b3C5l0l4VbYw3yQm1x0aG"\n';

  /** Of a gateway that one client has to itself, unless it listens somewhere. */
  async function fieldsOf(text: string, more: Partial<ApprovalPorts> = {}, isListening = false) {
    const [time, log] = [new ManualTime(), new KeptLog()];
    const approvals = approvalsFor(text, time, { log, ...more });
    if (isListening) approvals.listensOn({ host: "127.0.0.1", port: 7411 });
    const stages = [approvals.stage];
    const { kernel, order } = await testKernel([new ScriptedProvider("plant", ["open"])], { stages });
    const run = kernel.runs.start(order("plant.open"), { keeps: false, take: () => true });
    await flush();
    await new Promise(setImmediate);
    run.cancel("enough");
    await approvals.close();
    return log.lines.find(({ message }) => message === "call waits for a yes")?.fields;
  }

  test.each<[string, string, Partial<ApprovalPorts>, string]>([
    ["an operator", STRICT, {}, "isthmus"],
    ["an operator, of whom it knows one", STRICT, { hasLocalOperator: true }, "isthmus"],
    ["an operator, run from a clone", STRICT, { calledAs: { program: "npm start --", isFound: true } }, "npm start --"],
  ])(
    "says at a pipe where nobody can approve which gateway to start instead: needs %s",
    async (_who, text, more, it) => {
      expect(await fieldsOf(text, more)).toMatchObject({
        target: "plant/open",
        missing: `start "${it} up" and connect to that one ("${it} import CLIENT --connect url"), or change [gate] in the config`,
      });
    },
  );

  test("says nothing of the kind at a pipe whose client may bring a signature", async () => {
    const fields = await fieldsOf(STRICT + ANCHOR);
    expect(fields).toMatchObject({ target: "plant/open", missing: undefined });
  });

  test.each([
    ["where others reach the gateway", true],
    ["at a pipe, whose client brings the signature", false],
  ])("says which key to trust %s", async (_where, isListening) => {
    const { missing } = (await fieldsOf(SIGNED, {}, isListening)) ?? {};
    expect(missing).toEqual(expect.stringContaining("[[gate.anchors]]"));
  });

  test("names nobody who is missing where an operator is there", async () => {
    expect(await fieldsOf(STRICT, { hasLocalOperator: true }, true)).toMatchObject({ missing: undefined });
  });
});

test("warns of calls that nobody can approve once for each config", () => {
  const text = '[gate]\nmode = "strict"\nevidence = "external_proof"\n';
  const log = new KeptLog();
  const approvals = approvalsFor(text, undefined, { log });
  const definition = payload('{"name":"open","inputSchema":{"type":"object"}}');
  const primitives = [{ kind: "tool", name: "open", definition, repeatable: false } as const];
  const list = () => finish(approvals.flag([{ kind: "tool", primitives, extras: "" }], asWritten));
  const warnings = () => log.lines.filter(({ message }) => message === "nobody can approve").length;
  for (const times of [1, 2, 3]) {
    list();
    list();
    expect(warnings()).toBe(times);
    approvals.apply(configOf(text));
  }
});

describe("what people type to see a token for the pages", () => {
  const clone = { calledAs: { program: "npm run -s isthmus --", isFound: false } };
  const listening = (text: string, more: Partial<ApprovalPorts>) => {
    const approvals = approvalsFor(text, undefined, more);
    approvals.listensOn({ host: "127.0.0.1", port: 7500 });
    return approvals.tokenCommands();
  };

  test("is theirs alone where the gateway gives none out, as in the demo", () => {
    expect(listening("", { hasLocalOperator: true, ...clone })).toEqual({
      own: "npm run -s isthmus -- operator token",
    });
  });

  test("names the gateway where it gives out others, and is nothing where there are none", () => {
    const tokens = '[auth]\ntokens = true\n[database]\nurl = "sqlite:x.db"\n';
    expect(listening(tokens, clone)).toEqual({
      others: "npm run -s isthmus -- token create --user NAME --role operator --url http://127.0.0.1:7500",
    });
    expect(listening("", {})).toEqual({});
  });
});
