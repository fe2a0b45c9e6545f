import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { TerminalQuestions } from "./questions.ts";

/** A terminal at which `typed` is typed, all at once. */
function rig(typed: string) {
  const input = new PassThrough();
  const output = new PassThrough();
  let shown = "";
  output.on("data", (chunk) => {
    shown += chunk;
  });
  input.end(typed);
  return { questions: new TerminalQuestions({ input, output }), shown: () => shown };
}

const form = {
  message: "Who are you?\u001b[2J",
  requestedSchema: {
    type: "object",
    properties: {
      name: { type: "string", title: "Name" },
      age: { type: "integer", description: "in years" },
      colour: { type: "string", enum: ["red", "blue"], default: "blue" },
      note: { type: "string" },
    },
    required: ["name"],
  },
};

describe("TerminalQuestions", () => {
  test("asks for each field, again where the answer does not fit, and sends typed values", async () => {
    const { questions, shown } = rig("Ada\nold\n36\n\n\n");
    expect(await questions.answer("elicitation/create", form)).toEqual({
      action: "accept",
      content: { name: "Ada", age: 36, colour: "blue" },
    });
    expect(shown()).toContain("Who are you? [2J\n");
    expect(shown()).toContain("  Name (string) > ");
    expect(shown()).toContain('"age": expected integer, found "old"');
    expect(shown()).toContain('  colour (red/blue, optional, default "blue") > ');
  });

  test("lets no text of the server steer the terminal, also where an answer does not fit", async () => {
    const evil = "\u001b]0;x\u0007\u009b2J\u202e\r\u2028";
    const colour = { type: "string", enum: [`red${evil}`], title: evil, description: evil };
    const requestedSchema = { type: "object", properties: { [`colour${evil}`]: colour } };
    const { questions, shown } = rig("green\n!\n");
    await questions.answer("elicitation/create", { message: evil, requestedSchema });
    expect(shown()).toContain("expected red");
    expect(shown()).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
  });

  test("declines at the sign for it, and when the input ends", async () => {
    expect(await rig("Ada\n!\n").questions.answer("elicitation/create", form)).toEqual({ action: "decline" });
    expect(await rig("Ada\n").questions.answer("elicitation/create", form)).toEqual({ action: "decline" });
  });

  test("shows an address, and goes on only when told so", async () => {
    const visit = { mode: "url", message: "Sign in", url: "https://example.test/in" };
    const { questions, shown } = rig("y\n");
    expect(await questions.answer("elicitation/create", visit)).toEqual({ action: "accept" });
    expect(shown()).toContain("https://example.test/in");
    expect(await rig("\n").questions.answer("elicitation/create", visit)).toEqual({ action: "decline" });
  });

  test("declines without a terminal, and does not know other questions", async () => {
    const questions = new TerminalQuestions(undefined);
    expect(await questions.answer("elicitation/create", form)).toEqual({ action: "decline" });
    expect(questions.answer("sampling/createMessage", {})).toBeUndefined();
  });
});
