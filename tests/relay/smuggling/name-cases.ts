/** Names, methods, ids and shapes that look like others. */
import { callText, named, refused, type SmugglingCase, same, utf8 } from "./case.ts";

const byId = (id: string) => callText({ id });
const byMethod = (method: string) => utf8(callText({ method: JSON.stringify(method) }));

/** A method nobody knows: refused, but relayed under its own name where there is one server. */
function unknownMethods(cases: Readonly<Record<string, string>>): SmugglingCase[] {
  return Object.entries(cases).map(([name, method]) => ({
    name,
    bytes: byMethod(method),
    expect: "refused",
    inCatalog: "same",
  }));
}

export const NAME_CASES: readonly SmugglingCase[] = [
  ...refused({
    "a Cyrillic letter": utf8(named('"@s\u0430fe"')),
    "full-width letters": utf8(named('"@\uff53\uff41\uff46\uff45"')),
    "a combining mark": utf8(named('"@safe\u0301"')),
    "a zero-width space": utf8(named('"@safe\u200b"')),
    "a byte order mark behind the name": utf8(named('"@safe\ufeff"')),
    "a right-to-left mark": utf8(named('"\u202e@safe"')),
    "a lone surrogate before the name": named('"\\ud800@safe"'),
    "a space behind the name": named('"@safe "'),
    "a space before the name": named('" @safe"'),
    "a NUL behind the name": named('"@safe\\u0000"'),
    "a line end behind the name": named('"@safe\\n"'),
    "the name in capitals": named('"@SAFE"'),
    "the prefix twice": named('"files.files.safe"'),
    "the prefix in capitals": named('"Files.safe"'),
    "two dots": named('"files..safe"'),
    "a dot before the name": named('".safe"'),
    "a path before the name": named('"./@safe"'),
    "a slash for the dot": named('"files/safe"'),
    "two underscores for the dot": named('"files__safe"'),
    "another server's prefix": named('"bare.safe"'),
    "a mapped name as it was before": named('"files.a.b"'),
    "no name": named('""'),
    "a name of Object.prototype": named('"constructor"'),
    "the name __proto__": named('"__proto__"'),
    "a number for a name": named("1"),
    "null for a name": named("null"),
    "a list for a name": named('["@safe"]'),
    "an object for a name": named('{"toString":"@safe"}'),
    "params as a list": callText({ params: '["@safe",{}]' }),
    "params as a string": callText({ params: '"@safe"' }),
    "params null": callText({ params: "null" }),
    "id null": byId("null"),
    "id true": byId("true"),
    "id an object": byId('{"a":7}'),
    "id a list": byId("[7]"),
    "jsonrpc 1.0": callText().replace('"2.0"', '"1.0"'),
    "jsonrpc a number": callText().replace('"2.0"', "2.0"),
    "jsonrpc with an escape": callText().replace('"2.0"', '"2\\u002e0"'),
    "no jsonrpc": callText().replace('"jsonrpc":"2.0",', ""),
    "a call that is also an answer": callText({ more: ',"result":{}' }),
    "a call that is also an error": callText({ more: ',"error":{"code":1,"message":""}' }),
    "a list of one call": `[${callText()}]`,
    "a list of two calls": `[${callText()},${callText({ id: "8", params: '{"name":"@danger"}' })}]`,
    "a list in a list": `[[${callText()}]]`,
    "a list behind white space": ` \n[${callText()}]`,
    "an empty list": "[]",
  }),
  ...unknownMethods({
    "the method in capitals": "TOOLS/CALL",
    "the method with one capital": "tools/Call",
    "the method with a space": "tools/call ",
    "the method with two slashes": "tools//call",
    "the method with a NUL": "tools/call\0",
    "the method with a full-width slash": "tools\uff0fcall",
  }),
  { name: "a call without an id", bytes: callText().replace('"id":7,', ""), expect: "ignored" },
  { name: "a name in both servers, by its prefix", bytes: named('"files.read"'), expect: "same", inCatalog: "refused" },
  { name: "a dotted name of the server without prefix", bytes: named('"a.b"'), expect: "same" },
  { name: "a dotted name as it is mapped", bytes: named('"files.a_b"'), expect: "same", inCatalog: "refused" },
  { name: "a name without its prefix", bytes: named('"safe"'), expect: "same" },
  ...same({
    "id 1.0": byId("1.0"),
    "id 1e0": byId("1e0"),
    "id as a string": byId('"7"'),
    "id beyond what a double holds": byId("12345678901234567890"),
    "id minus zero": byId("-0"),
    "an empty id": byId('""'),
    "an escaped id": byId('"\\u0037"'),
  }),
];
