import { describe, expect, test } from "vitest";
import type { Primitive } from "../../../contract/index.ts";
import { startHttpFixture } from "../fixtures/http-server.ts";
import { complete } from "../fixtures/modern-http.ts";
import { openProvider } from "../fixtures/setup.ts";
import { legacyTasks, modernTasks, type TaskRig } from "../fixtures/task-server.ts";

const toolsOf = ({ setup }: TaskRig): readonly Primitive[] =>
  setup.host.offers.get("shared")?.get("tool")?.primitives ?? [];
const outlasts = (rig: TaskRig) => Object.fromEntries(toolsOf(rig).map((tool) => [tool.name, tool.outlasts]));
const olderOf = (rig: TaskRig, name: string) =>
  toolsOf(rig)
    .find((tool) => tool.name === name)
    ?.older?.value();

const NO_TASKS = complete({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });

describe("tools that can outlast their caller", () => {
  test("are those that a server of 2025 makes tasks of, and stay as it lists them", async () => {
    await using rig = await legacyTasks();
    expect(outlasts(rig)).toEqual({ slow: "own", maybe: "own", plain: undefined });
    expect(toolsOf(rig).filter((tool) => "older" in tool)).toEqual([]);
  });

  test("are all where the operator says so, and clients of 2025 may then ask for tasks", async () => {
    await using rig = await legacyTasks({}, { task: "auto" });
    expect(outlasts(rig)).toEqual({ slow: "own", maybe: "own", plain: "slow" });
    expect(olderOf(rig, "plain")).toMatchObject({ name: "plain", execution: { taskSupport: "optional" } });
    expect(olderOf(rig, "slow")).toBeUndefined();
    await using modern = await modernTasks(
      { "server/discover": (exchange) => exchange.result(NO_TASKS) },
      { task: "auto" },
    );
    expect(outlasts(modern)).toEqual({ slow: "slow", numbers: "slow" });
  });

  test("are all of a server of 2026-07-28 that knows tasks", async () => {
    await using rig = await modernTasks({}, { task: "auto" });
    expect(outlasts(rig)).toEqual({ slow: "told", numbers: "told" });
    expect(olderOf(rig, "slow")).toEqual({
      name: "slow",
      inputSchema: { type: "object" },
      execution: { taskSupport: "optional" },
    });
  });

  test("are none of a server of 2025 that has not declared tasks, whatever its tools say", async () => {
    await using server = await startHttpFixture({
      "tools/list": (exchange) => exchange.result({ tools: [{ name: "a", execution: { taskSupport: "required" } }] }),
    });
    await using setup = await openProvider({ url: server.url });
    expect(setup.host.offers.get("shared")?.get("tool")?.primitives[0]).not.toHaveProperty("outlasts");
  });

  test("are none where two readers could read the tool differently", async () => {
    const text = '{"tools":[{"name":"a","execution":{"taskSupport":"required","taskSupport":"forbidden"}}]}';
    await using rig = await legacyTasks({
      "tools/list": (exchange) =>
        exchange.raw(`{"jsonrpc":"2.0","id":${exchange.message.id},"result":${text}}`, 200, {
          "content-type": "application/json",
        }),
    });
    expect(outlasts(rig)).toEqual({ a: undefined });
  });
});

describe("tools of 2026-07-28 in the lists of 2025 clients", () => {
  const TOOLS = [
    { name: "plain", inputSchema: { type: "object", additionalProperties: false } },
    { name: "numbers", inputSchema: { type: "object" }, outputSchema: { type: "array", items: { $ref: "#/$defs/n" } } },
    { name: "anything", inputSchema: { type: "object", properties: { x: true } } },
    { name: "odd", inputSchema: { type: "object" }, outputSchema: { $id: "urn:a", type: "array" } },
  ];

  test("have schemas that those clients can read, and only where they must differ", async () => {
    await using rig = await modernTasks({
      "server/discover": (exchange) => exchange.result(NO_TASKS),
      "tools/list": (exchange) => exchange.result(complete({ tools: TOOLS })),
    });
    expect(toolsOf(rig).map(({ definition }) => definition.value())).toEqual(TOOLS);
    expect(olderOf(rig, "plain")).toBeUndefined();
    expect(olderOf(rig, "numbers")).toMatchObject({
      outputSchema: {
        type: "object",
        properties: { result: { type: "array", items: { $ref: "#/properties/result/$defs/n" } } },
        required: ["result"],
      },
    });
    expect(olderOf(rig, "anything")).toMatchObject({ inputSchema: { properties: { x: {} } } });
    expect(olderOf(rig, "odd")).toEqual({ name: "odd", inputSchema: { type: "object" } });
  });
});
