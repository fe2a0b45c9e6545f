/**
 * What is judged is what is sent: no message is read as one thing by the gateway and executed as another. Each case goes
 * every way to a tool; it is refused, or three kinds of parser behind the gateway read in it just what the log names.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "../../e2e/kit/gateway.ts";
import { callText } from "./case.ts";
import { HTTP_CASES } from "./http-cases.ts";
import { FRAMING_CASES, HOST_CASES } from "./http-framing-cases.ts";
import { KEY_CASES } from "./key-cases.ts";
import { NAME_CASES } from "./name-cases.ts";
import { openRawWay } from "./raw-way.ts";
import { runCases } from "./run-cases.ts";
import { TEXT_CASES } from "./text-cases.ts";
import * as ways from "./ways.ts";
import { startWitnesses, type Witnesses } from "./witness.ts";

const CORPUS = [...KEY_CASES, ...TEXT_CASES, ...NAME_CASES];

let witnesses: Witnesses;
let gateway: RunningGateway;

beforeAll(async () => {
  witnesses = await startWitnesses();
  gateway = await startGateway({ config: witnesses.config });
});

afterAll(async () => {
  await gateway?.stop();
  await witnesses?.close();
});

const log = () => gateway.program.stderr;

const WAYS = {
  "a session on /mcp": () => ways.openSessionWay(gateway.origin, log),
  "a session on a catalog": () => ways.openCatalogWay(gateway.origin, log),
  "no session": () => ways.openEphemeralWay(gateway.origin, log),
  "a batch": () => ways.openBatchWay(gateway.origin, log),
  "HTTP+SSE of 2024": () => ways.openSseWay(gateway.origin, log),
  "isthmus stdio": () => ways.openStdioWay(witnesses.config),
};

describe("the corpus", () => {
  test("has at least 60 cases, each under its own name", () => {
    expect(CORPUS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(CORPUS.map((one) => one.name)).size).toBe(CORPUS.length);
  });

  test.each(Object.entries(WAYS))("is never executed as something else than was judged, by %s", async (_name, open) => {
    const way = await open();
    try {
      expect(await runCases(CORPUS, way, witnesses)).toEqual([]);
    } finally {
      await way.close();
    }
  });

  test("is no way around HTTP itself", async () => {
    const way = await openRawWay(gateway.origin, log);
    expect(await runCases([...HTTP_CASES, ...FRAMING_CASES], way, witnesses)).toEqual([]);
  });

  test("names one host", async () => {
    const way = await openRawWay(gateway.origin, log);
    expect(await runCases(HOST_CASES, way, witnesses)).toEqual([]);
  });

  test("hides no second call in a batch", async () => {
    const way = await ways.openBatchWay(gateway.origin, log);
    const two = (id: string) =>
      `${callText()},${callText({ id, params: '{"name":"@danger"}' })}`.replaceAll("@", "files.");
    const before = witnesses.executed.length;
    const both = await way.send(Buffer.from(two("8")), true);
    expect(
      JSON.parse(both.body)
        .map((answer: { id: number }) => answer.id)
        .sort(),
    ).toEqual([7, 8]);
    const targets = () => witnesses.executed.slice(before).map((execution) => execution.last);
    expect(targets().sort()).toEqual(["files/danger", "files/safe"]);
    const clash = await way.send(Buffer.from(two("7")), true);
    expect(clash.body).toContain('"code":-32600');
    expect(targets().slice(2)).toEqual(["files/safe"]);
  });
});
