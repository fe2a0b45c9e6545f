import { describe, expect, test } from "vitest";
import { silentLog } from "../../../tests/kit/fake-host.ts";
import { type Log, payload, textOf } from "../../contract/index.ts";
import { skimMessage } from "../../wire/jsonrpc/index.ts";
import { collectOffers } from "./listing.ts";

function listingOf(pages: Record<string, string>, capabilities = '{"tools":{}}') {
  const asked: string[] = [];
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const request = (method: string, params: { text: string }) => {
    asked.push(`${method} ${params.text}`.trim());
    const cursor = (params.text === "" ? {} : JSON.parse(params.text)).cursor ?? "";
    return Promise.resolve(
      skimMessage(textOf(`{"jsonrpc":"2.0","id":1,${pages[cursor] ?? '"error":{"code":-32603,"message":"x"}'}}`)),
    );
  };
  return { listing: { capabilities: payload(capabilities), log, request }, asked, warnings };
}

describe("collectOffers", () => {
  test("asks only for what the server declares", async () => {
    const { listing, asked } = listingOf({ "": '"result":{"tools":[]}' });
    const { offers } = await collectOffers(listing, ["tool", "resource", "template", "prompt"]);
    expect(asked).toEqual(["tools/list"]);
    expect(offers.map((offer) => [offer.kind, offer.primitives.length])).toEqual([
      ["tool", 0],
      ["resource", 0],
      ["template", 0],
      ["prompt", 0],
    ]);
  });

  test("collects all pages and keeps the other members of the first", async () => {
    const { listing, asked } = listingOf({
      "": '"result":{"tools":[{"name":"a"}],"nextCursor":"p2","_meta":{"x":1},"odd": 2}',
      p2: '"result":{"tools":[{"name":"b"}],"_meta":{"y":1}}',
    });
    const {
      offers: [offer],
    } = await collectOffers(listing, ["tool"]);
    expect(asked).toEqual(["tools/list", 'tools/list {"cursor":"p2"}']);
    expect(offer?.primitives.map((primitive) => primitive.name)).toEqual(["a", "b"]);
    expect(offer?.extras).toBe('"_meta":{"x":1},"odd":2');
  });

  test("stops where cursors repeat and keeps what came", async () => {
    const { listing, warnings } = listingOf({
      "": '"result":{"tools":[{"name":"a"}],"nextCursor":"p"}',
      p: '"result":{"tools":[{"name":"b"}],"nextCursor":"p"}',
    });
    const {
      offers: [offer],
    } = await collectOffers(listing, ["tool"]);
    expect(offer?.primitives.map((primitive) => primitive.name)).toEqual(["a", "b"]);
    expect(warnings).toEqual(["list cut short"]);
  });

  test("takes a list the server does not know for empty", async () => {
    const { listing, warnings } = listingOf({ "": '"error":{"code":-32601,"message":"unknown"}' });
    expect(await collectOffers(listing, ["tool"])).toEqual({
      offers: [{ kind: "tool", primitives: [], extras: "" }],
      refused: [],
    });
    expect(warnings).toEqual([]);
  });

  test("offers nothing for a list the server refuses, so that the former one stays", async () => {
    const { listing } = listingOf({ "": '"error":{"code":-32603,"message":"x"}' });
    const collected = await collectOffers(listing, ["tool"]);
    expect(collected).toEqual({ offers: [], refused: ["tools/list failed with code -32603"] });
  });

  test("leaves out entries without a name and those that could be read in two ways", async () => {
    const entries = [
      '{"name":"a","name":"b"}',
      '{"n\\u0061me":"c"}',
      "7",
      '{"title":"x"}',
      '{"name":""}',
      ' { "name" : "ü" } ',
    ];
    const { listing, warnings } = listingOf({ "": `"result":{"tools":[${entries.join(",")}]}` });
    const {
      offers: [offer],
    } = await collectOffers(listing, ["tool"]);
    expect(offer?.primitives.map((primitive) => [primitive.name, primitive.definition.value()])).toEqual([
      ["ü", { name: "ü" }],
    ]);
    expect(warnings).toEqual(["list entries left out"]);
  });

  test.each([
    ["{}", false],
    ['{"readOnlyHint":true}', true],
    ['{"idempotentHint":true,"destructiveHint":true}', true],
    ['{"readOnlyHint":"true"}', false],
    ["null", false],
  ])("a tool with annotations %s may be repeated: %s", async (annotations, repeatable) => {
    const { listing } = listingOf({ "": `"result":{"tools":[{"name":"a","annotations":${annotations}}]}` });
    const {
      offers: [offer],
    } = await collectOffers(listing, ["tool"]);
    expect(offer?.primitives[0]?.repeatable).toBe(repeatable);
  });

  test("names resources by URI and templates by template, and may always repeat them", async () => {
    const { listing } = listingOf(
      {
        "": '"result":{"resources":[{"uri":"a:1","name":"x"}],"resourceTemplates":[{"uriTemplate":"a:{b}","name":"y"}]}',
      },
      '{"resources":{}}',
    );
    const { offers } = await collectOffers(listing, ["resource", "template"]);
    expect(offers.map((offer) => offer.primitives)).toMatchObject([
      [{ name: "a:1", repeatable: true }],
      [{ name: "a:{b}", repeatable: true }],
    ]);
  });

  test("reads ten thousand tools in one walk", async () => {
    const schema = JSON.stringify({
      type: "object",
      properties: { a: { type: "string", description: 'x "quoted" y' } },
    });
    const tools = Array.from({ length: 10_000 }, (_, index) => `{"name":"tool-${index}","inputSchema":${schema}}`);
    const { listing } = listingOf({ "": `"result":{"tools":[${tools.join(",")}]}` });
    const start = performance.now();
    const {
      offers: [offer],
    } = await collectOffers(listing, ["tool"]);
    expect(offer?.primitives).toHaveLength(10_000);
    expect(offer?.primitives[9_999]?.definition.text).toBe(tools[9_999]);
    expect(performance.now() - start).toBeLessThan(1000); // quadratic code needs minutes
  });
});
