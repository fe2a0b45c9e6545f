/** Arbitrary messages of a server, and what a client says to its questions. */
import fc from "fast-check";
import { anySize, valueText } from "./json-text.ts";
import { message, metaText, notification, objectWith, type RequestText, request } from "./mcp-text.ts";
import { hole } from "./template.ts";

/** Said by the server in the course of a call. */
export type Said = { readonly type: "progress" | "log" | "notice"; readonly template: string };

const progress = valueText.chain((value) =>
  notification(
    "notifications/progress",
    objectWith([
      ["progressToken", hole("token")],
      ["progress", "1.0"],
      ["message", value],
    ]),
  ),
);

export const log = valueText.chain((data) =>
  notification(
    "notifications/message",
    objectWith([
      ["level", '"error"'],
      ["data", data],
    ]),
  ),
);

export const updated = notification("notifications/resources/updated", objectWith([["uri", hole("name")]]));

export const said: fc.Arbitrary<Said> = fc.oneof(
  progress.map((template): Said => ({ type: "progress", template })),
  log.map((template): Said => ({ type: "log", template })),
  notification("notifications/vendor/thing", objectWith([])).map((template): Said => ({ type: "notice", template })),
);

/** A question of the server, and what the client says to it. */
export type Question = RequestText & { readonly answer: string; readonly progress: string };

const question = fc
  .constantFrom("elicitation/create", "sampling/createMessage", "roots/list")
  .chain((method) => valueText.chain((value) => request(method, [["message", value]])));

const result = anySize.chain((value) =>
  fc
    .tuple(
      metaText(false),
      objectWith([
        ["type", '"text"'],
        ["text", value],
      ]),
    )
    .chain(([meta, content]) =>
      objectWith([
        ["content", `[${content}]`],
        ["_meta", meta],
      ]),
    )
    .chain((body) =>
      message([
        ["id", hole("id")],
        ["result", body],
      ]),
    ),
);

const fault = valueText.chain((data) =>
  objectWith([
    ["code", "-32001.0"],
    ["message", '"n\\u00f6"'],
    ["data", data],
  ]).chain((body) =>
    message([
      ["id", hole("id")],
      ["error", body],
    ]),
  ),
);

export const answerText = fc.oneof({ weight: 3, arbitrary: result }, { weight: 1, arbitrary: fault });

export const asked: fc.Arbitrary<Question> = fc
  .tuple(question, answerText, progress)
  .map(([asking, answer, about]) => ({ ...asking, answer, progress: about }));
