/** Tools of the suite for 2025-11-25 that ask the client something before they answer. */
import type { Json } from "../sdk.ts";
import { argumentsOf } from "./call.ts";
import { elicitation, sampledText, sampling } from "./questions.ts";
import { NO_ARGUMENTS, type Tool, text } from "./tool.ts";

function oneRequiredText(name: string, description: string): Json {
  return { type: "object", properties: { [name]: { type: "string", description } }, required: [name] };
}

function elicitsForm(name: string, description: string, properties: Json): Tool {
  return {
    name,
    description,
    inputSchema: NO_ARGUMENTS,
    async run({ ask }) {
      const { form } = await ask({ form: elicitation("Please review the values of this form", properties) });
      return text(`Elicitation completed: action=${form?.action}, content=${JSON.stringify(form?.content ?? {})}`);
    },
  };
}

const options = ["option1", "option2", "option3"];

function titled(noun: string): Json[] {
  return ["First", "Second", "Third"].map((ordinal, index) => ({
    const: `value${index + 1}`,
    title: `${ordinal} ${noun}`,
  }));
}

export const askingTools: readonly Tool[] = [
  {
    name: "test_sampling",
    description: "Asks the client's model",
    inputSchema: oneRequiredText("prompt", "The prompt to send to the model"),
    async run(call) {
      const { sample } = await call.ask({ sample: sampling(String(argumentsOf(call).prompt)) });
      return text(`LLM response: ${sampledText(sample)}`);
    },
  },
  {
    name: "test_elicitation",
    description: "Asks the user for a name and an address",
    inputSchema: oneRequiredText("message", "The message to show the user"),
    async run(call) {
      const message = String(argumentsOf(call).message);
      const username = { type: "string", description: "User's response" };
      const email = { type: "string", description: "User's email address" };
      const { user } = await call.ask({ user: elicitation(message, { username, email }, ["username", "email"]) });
      return text(`User response: action: ${user?.action}, content: ${JSON.stringify(user?.content ?? {})}`);
    },
  },
  elicitsForm("test_elicitation_sep1034_defaults", "Asks with a default for every primitive type", {
    name: { type: "string", description: "User name", default: "John Doe" },
    age: { type: "integer", description: "User age", default: 30 },
    score: { type: "number", description: "User score", default: 95.5 },
    status: { type: "string", description: "User status", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", description: "Verification status", default: true },
  }),
  elicitsForm("test_elicitation_sep1330_enums", "Asks with all five kinds of enum", {
    untitledSingle: { type: "string", enum: options },
    titledSingle: { type: "string", oneOf: titled("Option") },
    legacyEnum: {
      type: "string",
      enum: ["opt1", "opt2", "opt3"],
      enumNames: ["Option One", "Option Two", "Option Three"],
    },
    untitledMulti: { type: "array", items: { type: "string", enum: options } },
    titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
  }),
];
