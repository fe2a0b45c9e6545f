/**
 * The parts of arbitrary MCP messages, as templates: valid, with fields nobody knows at every level but the topmost, where
 * JSON-RPC knows them all.
 */
import fc from "fast-check";
import { extras, objectText, space, stringText, valueText } from "./json-text.ts";
import { hole } from "./template.ts";

export type Member = [key: string, value: string];

/** A whole message around these members, with white space around it as well. */
export function message(members: readonly Member[]): fc.Arbitrary<string> {
  return fc
    .tuple(space, space)
    .chain(([before, after]) => objectText([["jsonrpc", '"2.0"'], ...members]).map((text) => before + text + after));
}

export function objectWith(members: readonly Member[], more: fc.Arbitrary<Member[]> = extras): fc.Arbitrary<string> {
  return more.chain((others) => objectText([...members, ...otherThan(members, others)]));
}

/** As readers see a key that do not mind case: two that they take for one are refused. */
const folded = (key: string) => key.toUpperCase().toLowerCase();

function otherThan(members: readonly Member[], more: readonly Member[]): Member[] {
  const seen = new Set(["jsonrpc", "id", "method", "params", ...members.map(([key]) => key)].map(folded));
  return more.filter(([key]) => seen.size < seen.add(folded(key)).size);
}

/** A string literal, sometimes with escapes that change nothing. */
export function spelled(text: string): fc.Arbitrary<string> {
  const escaped = [...text].map((char) =>
    [...Array(char.length).keys()].map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
  const plain = JSON.stringify(text);
  return fc.constantFrom(plain, plain, plain.replaceAll("/", "\\/"), `"${escaped.join("")}"`);
}

/** Members whose keys are spelled with escapes, or stand there twice: nothing reads them, so nothing may mind. */
const oddMembers = fc
  .array(fc.tuple(stringText, valueText), { maxLength: 2 })
  .map((members) => members.filter(([key]) => JSON.parse(key) !== "progressToken").map((member) => member.join(":")))
  .map((members) => (members.length === 0 ? "" : `${[...members, ...members].join(",")},`));

/** `_meta`, with the token where there is one. */
export function metaText(hasToken: boolean): fc.Arbitrary<string> {
  const members: Member[] = hasToken ? [["progressToken", hole("token")]] : [];
  return fc
    .tuple(oddMembers, objectWith([...members, ["dev.relay/x", "1.0"]]))
    .map(([odd, text]) => `{${odd}${text.slice(1)}`);
}

/** Ids and tokens as peers spell them. A token and an id of a question may be any of these. */
export const idText = fc.oneof(
  fc.integer({ min: 0, max: 1_000_000 }).map(String),
  fc.constantFrom(
    "0",
    "-1",
    "1.0",
    "1e2",
    "123456789012345678901",
    '"a"',
    '"1"',
    '""',
    '"\\u0061"',
    '"é😀"',
    '"a\\/b"',
  ),
  stringText,
);

export type RequestText = { readonly template: string; readonly method: string; readonly hasToken: boolean };

export function request(method: string, params: readonly Member[]): fc.Arbitrary<RequestText> {
  return fc.tuple(fc.boolean(), fc.boolean(), spelled(method)).chain(([hasToken, hasMeta, methodText]) => {
    const meta = hasToken || hasMeta ? metaText(hasToken).map((text): Member[] => [["_meta", text]]) : fc.constant([]);
    return meta
      .chain((member) => objectWith([...params, ...member]))
      .chain((text) =>
        message([
          ["id", hole("id")],
          ["method", methodText],
          ["params", text],
        ]),
      )
      .map((template) => ({ template, method, hasToken }));
  });
}

export function notification(method: string, params: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(spelled(method), params).chain(([text, body]) =>
    message([
      ["method", text],
      ["params", body],
    ]),
  );
}
