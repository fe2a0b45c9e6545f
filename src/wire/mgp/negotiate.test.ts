import { describe, expect, test } from "vitest";
import { jsonText, payload } from "../../contract/index.ts";
import { answerMgp, isDialectWord, MGP_EXTENSIONS, negotiate, withoutDialects } from "./negotiate.ts";

const json = (value: unknown) => payload(jsonText(value));
const declare = (extensions: unknown = ["access_control"], version: unknown = "0.3.0") => ({ version, extensions });
const agreed = (capabilities: unknown, offered = MGP_EXTENSIONS) => negotiate(json(capabilities), offered);
const told = (capabilities: unknown) => answerMgp(json({ tools: {} }), json(capabilities), MGP_EXTENSIONS).value();

describe("negotiate", () => {
  test("[MG-035][MG-039] gives what both have, in our order and once, and nothing else", () => {
    const asked = ["nope", "audit", "access_control", "audit"];
    expect(agreed({ mgp: declare(asked) })).toEqual(["access_control", "audit"]);
    expect(negotiate(json({ mgp: declare(asked) }), ["audit"])).toEqual(["audit"]);
    expect(agreed({ mgp: declare(["nope"]) })).toEqual([]);
  });

  test("[MG-020][MG-021][MG-022] knows nothing of a client that declares nothing, or not whole", () => {
    expect(agreed({})).toBeUndefined();
    expect(agreed({ mgp: { extensions: ["audit"] } })).toBeUndefined();
    expect(agreed({ mgp: { version: "0.3.0" } })).toBeUndefined();
    for (const mgp of [null, true, "0.3.0", [], { version: 3, extensions: [] }])
      expect(agreed({ mgp })).toBeUndefined();
    for (const extensions of ["audit", [1], [null], {}]) expect(agreed({ mgp: declare(extensions) })).toBeUndefined();
    expect(agreed({ mgp: declare([]) })).toEqual([]);
  });

  test.each(["0.1.0", "0.2.0", "0.3.0", "0.9.9", "0.10.0-rc.1+b5"])("[MG-043] speaks with %s", (version) => {
    expect(agreed({ mgp: declare(["audit"], version) })).toEqual(["audit"]);
  });

  test.each(["1.0.0", "abc", "", "0.3", "00.3.0", "0.03.0", "0.3.0\n", " 0.3.0"])(
    "[MG-042] does not speak with %j",
    (version) => {
      expect(agreed({ mgp: declare(["audit"], version) })).toBeUndefined();
    },
  );

  test("believes the first of three places, and takes a key that is there twice for none", () => {
    const own = declare(["audit"]);
    expect(agreed({ experimental: { mgp: own } })).toEqual(["audit"]);
    expect(agreed({ extensions: { "dev.cloto/mgp": own } })).toEqual(["audit"]);
    expect(agreed({ mgp: declare(), experimental: { mgp: own } })).toEqual(["access_control"]);
    expect(agreed({ mgp: { version: "1.0.0" }, experimental: { mgp: own } })).toBeUndefined();
    const twice = '{"mgp":{"version":"0.3.0","extensions":[]},"mgp":{"version":"0.3.0","extensions":["audit"]}}';
    expect(negotiate(payload(twice), MGP_EXTENSIONS)).toBeUndefined();
    expect(negotiate(payload('{"\\u006dgp":{"version":"0.3.0","extensions":["audit"]}}'), MGP_EXTENSIONS)).toEqual([
      "audit",
    ]);
  });
});

describe("answerMgp", () => {
  const answer = { version: "0.3.0", extensions: ["access_control"] };

  test("[MG-033][MG-034] answers under `mgp`, with our version, and wherever else the client has said it", () => {
    expect(told({ mgp: declare() })).toEqual({ tools: {}, mgp: answer });
    expect(told({ experimental: { mgp: declare() } })).toEqual({
      tools: {},
      mgp: answer,
      experimental: { mgp: answer },
    });
    expect(told({ extensions: { "dev.cloto/mgp": declare() } })).toEqual({
      tools: {},
      mgp: answer,
      extensions: { "dev.cloto/mgp": answer },
    });
  });

  test("[MG-041] says nothing to a client that said nothing", () => {
    expect(told({ experimental: { other: {} } })).toEqual({ tools: {} });
    expect(told({ mgp: declare(["audit"], "2.0.0") })).toEqual({ tools: {} });
  });
});

test("withoutDialects leaves out what a peer declares of them, and what that would leave empty", () => {
  const mgp = declare();
  expect(withoutDialects(json({ mgp, experimental: { mgp }, extensions: { "dev.cloto/mgp": mgp } })).value()).toEqual(
    {},
  );
  expect(withoutDialects(json({ tools: {}, experimental: { mgp, other: 1 } })).value()).toEqual({
    tools: {},
    experimental: { other: 1 },
  });
  expect(
    withoutDialects(
      json({
        MGP: 1,
        mcpax: 1,
        "Mgp ": 1,
        "mgp/permissions": 1,
        experimental: { mcpax: {} },
        extensions: { "org.example/mgp": 1, "io.mcpax/x": 1 },
      }),
    ).value(),
  ).toEqual({});
  const otherCases = { Experimental: { mgp }, EXTENSIONS: { "dev.cloto/mgp": mgp, other: 1 } };
  expect(withoutDialects(json(otherCases)).value()).toEqual({ EXTENSIONS: { other: 1 } });
  expect(withoutDialects(payload('{"\\u006dgp":{},"roots":{}}')).text).toBe('{"roots":{}}');
  const plain = json({ tools: {}, experimental: {} });
  expect(withoutDialects(plain)).toBe(plain);
});

test("words of the dialects are known by how they begin, however they are written", () => {
  for (const word of [
    "mgp/access/grant",
    "MGP/tools",
    "mcpax/register",
    "mgp",
    "notifications/mgp.audit",
    "mcpax.x",
    " mgp/access/grant",
    "mgp\0/x",
    "/mgp/x",
    "mgp /x",
    "notifications/ mgp.audit",
  ])
    expect(isDialectWord(word), word).toBe(true);
  for (const word of ["tools/call", "notifications/message", "mgpx/y", "x/mgp/y", "notifications/progress"])
    expect(isDialectWord(word), word).toBe(false);
});
