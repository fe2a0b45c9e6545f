/** Arbitrary messages of a client. */
import fc from "fast-check";
import { anySize, extras, stringText } from "./json-text.ts";
import { type Member, message, notification, objectWith, type RequestText, request, spelled } from "./mcp-text.ts";
import { hole } from "./template.ts";

export const toolCall = fc
  .oneof(
    anySize.map((value): Member[] => [["arguments", `{"a":${value}}`]]),
    objectWith([]).map((value): Member[] => [["arguments", value]]),
    fc.constant([]),
  )
  .chain((args) => request("tools/call", [["name", hole("name")], ...args]));

export const promptGet = objectWith([]).chain((args) =>
  request("prompts/get", [
    ["name", hole("name")],
    ["arguments", args],
  ]),
);

export const resourceRead = request("resources/read", [["uri", hole("name")]]);

/** A reference has a name or a URI: another spelling of either is refused. */
const besideReference = extras.map((more) => more.filter(([key]) => !/^(name|uri)$/i.test(key)));

function completionOf(type: string, key: string): fc.Arbitrary<RequestText> {
  return fc
    .tuple(
      objectWith(
        [
          ["type", JSON.stringify(type)],
          [key, hole("name")],
        ],
        besideReference,
      ),
      objectWith([
        ["name", '"x"'],
        ["value", '""'],
      ]),
    )
    .chain(([ref, argument]) =>
      request("completion/complete", [
        ["ref", ref],
        ["argument", argument],
      ]),
    );
}

export const promptCompletion = completionOf("ref/prompt", "name");
export const templateCompletion = completionOf("ref/resource", "uri");

export const unknownRequest = fc
  .constantFrom("x/unknown", "vendor/dö", "tools/call2", "Tools/call", "mgpx/whatever")
  .chain((method) => request(method, []));

export const unknownNotice = fc
  .tuple(
    fc.constantFrom("notifications/x", "notifications/é", "notifications/roots/list_changed"),
    objectWith([]),
    fc.boolean(),
  )
  .chain(([method, params, hasParams]) =>
    spelled(method).chain((text) => message([["method", text], ...(hasParams ? [["params", params] as Member] : [])])),
  );

export const cancel = stringText.chain((reason) =>
  notification(
    "notifications/cancelled",
    objectWith([
      ["requestId", hole("about")],
      ["reason", reason],
    ]),
  ),
);
