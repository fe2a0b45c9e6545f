/** Tools that ask the client something before they answer. */
import { type Json, ResultSchema } from "../sdk.ts";
import { NO_ARGUMENTS, type Tool, text } from "./content-tools.ts";
import { type Call, rpcError } from "./session.ts";

async function ask(call: Call, capability: "sampling" | "elicitation", method: string, params: Json): Promise<Json> {
  if (call.session.clientCapabilities()[capability] === undefined) {
    throw rpcError(-32602, `The client does not support ${capability}`);
  }
  return await call.exchange.sendRequest({ method, params }, ResultSchema);
}

async function elicit(call: Call, message: string, properties: Json, required: string[] = []): Promise<Json> {
  const requestedSchema = { type: "object", properties, required };
  return await ask(call, "elicitation", "elicitation/create", { message, requestedSchema });
}

function oneRequiredText(name: string, description: string): Json {
  return { type: "object", properties: { [name]: { type: "string", description } }, required: [name] };
}

function elicitsForm(name: string, description: string, properties: Json): Tool {
  return {
    name,
    description,
    inputSchema: NO_ARGUMENTS,
    async run(call) {
      const { action, content } = await elicit(call, "Please review the values of this form", properties);
      return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
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
      const prompt = (call.params.arguments as Json | undefined)?.prompt;
      const result = await ask(call, "sampling", "sampling/createMessage", {
        messages: [{ role: "user", content: { type: "text", text: prompt } }],
        maxTokens: 100,
      });
      return text(`LLM response: ${(result.content as Json | undefined)?.text ?? "(no text)"}`);
    },
  },
  {
    name: "test_elicitation",
    description: "Asks the user for a name and an address",
    inputSchema: oneRequiredText("message", "The message to show the user"),
    async run(call) {
      const message = String((call.params.arguments as Json | undefined)?.message);
      const username = { type: "string", description: "User's response" };
      const email = { type: "string", description: "User's email address" };
      const { action, content } = await elicit(call, message, { username, email }, ["username", "email"]);
      return text(`User response: action: ${action}, content: ${JSON.stringify(content ?? {})}`);
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
