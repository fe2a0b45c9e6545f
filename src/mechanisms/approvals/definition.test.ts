import { expect, test } from "vitest";
import { type Payload, payload } from "../../contract/index.ts";
import { definitionPrint, isSameDefinition } from "./definition.ts";

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
