import { describe, expect, test } from "vitest";
import { atOnce } from "../../../tests/kit/at-once.ts";
import { silentLog } from "../../../tests/kit/fake-host.ts";
import { type Log, payload, textOf } from "../../contract/index.ts";
import { skimMessage } from "../../wire/jsonrpc/index.ts";
import { ListMemory } from "./list-memory.ts";
import { MAX_ENTRY_BYTES, MAX_EXPRESSIONS, MAX_NAME_LENGTH, MAX_TEMPLATE_LENGTH, MAX_TEMPLATES } from "./list-page.ts";
import { collectOffers, type Listing } from "./listing.ts";

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
  const listing: Listing = {
    capabilities: payload(capabilities),
    log,
    memory: new ListMemory(),
    bounds: { entries: 10_000, bytes: 8 * 1024 * 1024 },
    slices: atOnce,
    effort: { ms: 0 },
    request,
  };
  return { listing, asked, warnings };
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

  test("leaves out an entry of more than a MiB, and takes those beside it", async () => {
    const sized = (name: string, bytes: number) => {
      const frame = `{"name":"${name}","description":""}`.length;
      return `{"name":"${name}","description":"${"x".repeat(bytes - frame)}"}`;
    };
    const entries = [
      '{"name":"a"}',
      sized("most", MAX_ENTRY_BYTES),
      sized("more", MAX_ENTRY_BYTES + 1),
      '{"name":"z"}',
    ];
    const { listing, warnings } = listingOf({ "": `"result":{"tools":[${entries.join(",")}]}` });
    const {
      offers: [offer],
    } = await collectOffers(listing, ["tool"]);
    expect(offer?.primitives.map(({ name }) => name)).toEqual(["a", "most", "z"]);
    expect(warnings).toEqual(["list entries left out"]);
  });

  test.each([
    ["tool", "tools", "name", MAX_NAME_LENGTH],
    ["prompt", "prompts", "name", MAX_NAME_LENGTH],
    ["resource", "resources", "uri", MAX_NAME_LENGTH],
    ["template", "resourceTemplates", "uriTemplate", MAX_TEMPLATE_LENGTH],
  ] as const)(
    "leaves out a %s whose name is too long to be looked up by everybody",
    async (kind, member, key, most) => {
      const names = ["a:", `b:${"x".repeat(most - 2)}`, `c:${"x".repeat(most - 1)}`, "d:"];
      const list = JSON.stringify(names.map((name) => ({ [key]: name })));
      const { listing, warnings } = listingOf(
        { "": `"result":{"${member}":${list}}` },
        '{"tools":{},"prompts":{},"resources":{}}',
      );
      const { offers } = await collectOffers(listing, [kind]);
      expect(offers[0]?.primitives.map(({ name }) => name.slice(0, 2))).toEqual(["a:", "b:", "d:"]);
      expect(warnings).toEqual(["list entries left out"]);
    },
  );

  test("leaves out templates of many expressions, and those after the first few hundred", async () => {
    const templates = (count: number, from: number) =>
      Array.from({ length: count }, (_, at) => `{"uriTemplate":"x://${from + at}/{y}"}`).join(",");
    const most = `{"uriTemplate":"most:${"{x}".repeat(MAX_EXPRESSIONS)}"}`;
    const more = `{"uriTemplate":"more:${"{}".repeat(MAX_EXPRESSIONS + 1)}"}`;
    const { listing, asked, warnings } = listingOf(
      {
        "": `"result":{"resourceTemplates":[${most},${more},${templates(100, 0)}],"nextCursor":"p"}`,
        p: `"result":{"resourceTemplates":[${templates(MAX_TEMPLATES, 100)}],"nextCursor":"q"}`,
      },
      '{"resources":{}}',
    );
    const { offers } = await collectOffers(listing, ["template"]);
    const names = offers[0]?.primitives.map(({ name }) => name);
    expect(names?.slice(0, 2)).toEqual([`most:${"{x}".repeat(MAX_EXPRESSIONS)}`, "x://0/{y}"]);
    expect(names).toHaveLength(MAX_TEMPLATES);
    expect(asked).toHaveLength(2);
    expect(warnings).toEqual(["list entries left out", "list cut short"]);
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
    const {
      offers: [offer],
    } = await collectOffers(listing, ["tool"]);
    expect(offer?.primitives).toHaveLength(10_000);
    expect(offer?.primitives[9_999]?.definition.text).toBe(tools[9_999]);
  });
});
