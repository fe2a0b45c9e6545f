import { describe, expect, test } from "vitest";
import { type Payload, payload } from "../../contract/index.ts";
import { definitionPrint, isSameDefinition, writtenPrint } from "./definition.ts";

const WRITTEN = '{"name":"open","description":"Opens a valve.","inputSchema":{"type":"object"}}';

/** Counts how often its text is asked for. */
function counted(text: string): { readonly definition: Payload; readonly reads: () => number } {
  let reads = 0;
  const whole = payload(text);
  const definition: Payload = {
    get text() {
      reads++;
      return whole.text;
    },
    bytes: whole.bytes,
    frame: undefined,
    value: () => whole.value(),
    splice: (path, json) => whole.splice(path, json),
    at: (path) => whole.at(path),
  };
  return { definition, reads: () => reads };
}

const offered = (definition: Payload, isForAll = true) => ({
  primitive: { kind: "tool", name: "open", definition, repeatable: false } as const,
  isForAll,
});

test("a definition is read for the first call that waits, and not again for each", () => {
  const { definition, reads } = counted(WRITTEN);
  const first = definitionPrint(offered(definition));
  const read = reads();
  for (let calls = 0; calls < 3; calls++) expect(definitionPrint(offered(definition))).toBe(first);
  expect(reads()).toBe(read);
});

test("who is shown it is told for each, and another definition has another print", () => {
  const definition = payload(WRITTEN);
  expect(definitionPrint(offered(definition))).toMatch(/^tool all /);
  expect(definitionPrint(offered(definition, false))).toMatch(/^tool session /);
  const other = payload(WRITTEN.replace("a valve", "all valves"));
  expect(isSameDefinition(definitionPrint(offered(definition)), definitionPrint(offered(other)))).toBe(false);
});

describe("what a server has written itself", () => {
  const withMeta = (meta: string) => `${WRITTEN.slice(0, -1)},"_meta":{${meta}}}`;
  const print = (text: string) => writtenPrint(offered(payload(text)));

  test.each([
    ["one flag", withMeta('"x-mcpax-gated":true'), WRITTEN],
    ["both", withMeta('"x-mcpax-safety":"irreversible_mutable","x-mcpax-gated":true'), WRITTEN],
    ["one beside its own metadata", withMeta('"a":1,"x-mcpax-gated":true'), withMeta('"a":1')],
    ["one in metadata that it left empty", withMeta('"x-mcpax-gated":true'), withMeta("")],
  ])("is the same with %s of ours", (_what, flagged, written) => {
    const digests = [flagged, written].map((text) => definitionPrint(offered(payload(text))));
    expect(digests[0]).not.toBe(digests[1]);
    expect(isSameDefinition(print(flagged), print(written))).toBe(true);
  });

  test.each([
    ["another description", WRITTEN.replace("a valve", "all")],
    ["other metadata", withMeta('"a":1')],
    ["metadata that two readers could read differently", withMeta('"x-mcpax-gated":true,"x-mcpax-gated":false')],
  ])("is something else with %s", (_what, other) => {
    expect(isSameDefinition(print(WRITTEN), print(other))).toBe(false);
  });

  test("is nothing of what is not offered", () => {
    expect(writtenPrint(undefined)).toBe("");
  });
});
