import type { Json } from "../sdk.ts";
import { argumentsOf, type Call, rpcError } from "./call.ts";
import { hasAddedPrompt } from "./changing-lists.ts";
import { elicitText } from "./questions.ts";
import { PNG } from "./samples.ts";

type Prompt = {
  readonly name: string;
  readonly description: string;
  readonly arguments?: readonly { name: string; description: string; required: true }[];
  render(given: Json, call: Call): Json[] | Promise<Json[]>;
};

function argument(name: string, description: string) {
  return { name, description, required: true as const };
}

const prompts: readonly Prompt[] = [
  {
    name: "test_simple_prompt",
    description: "One fixed text",
    render: () => [{ type: "text", text: "This is a simple prompt for testing." }],
  },
  {
    name: "test_prompt_with_arguments",
    description: "Repeats its two arguments",
    arguments: [argument("arg1", "First test argument"), argument("arg2", "Second test argument")],
    render: ({ arg1, arg2 }) => [{ type: "text", text: `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'` }],
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "Embeds a resource",
    arguments: [argument("resourceUri", "URI of the resource to embed")],
    render: ({ resourceUri }) => [
      {
        type: "resource",
        resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
      },
      { type: "text", text: "Please process the embedded resource above." },
    ],
  },
  {
    name: "test_prompt_with_image",
    description: "Shows an image",
    render: () => [
      { type: "image", data: PNG, mimeType: "image/png" },
      { type: "text", text: "Please analyze the image above." },
    ],
  },
  {
    name: "test_input_required_result_prompt",
    description: "Asks the user for context",
    async render(_, { ask }) {
      const { user_context } = await ask({
        user_context: elicitText("What context should the prompt use?", "context"),
      });
      return [{ type: "text", text: `Use this context: ${(user_context?.content as Json | undefined)?.context}` }];
    },
  },
];

const comingAndGoing: Prompt = {
  name: "test_coming_and_going_prompt",
  description: "Listed only sometimes",
  render: () => [{ type: "text", text: "Still here" }],
};

/** The prompts of the moment. */
function offered(): readonly Prompt[] {
  return hasAddedPrompt() ? [...prompts, comingAndGoing] : prompts;
}

export function listPrompts(): Json {
  return { prompts: offered().map(({ render: _, ...listed }) => listed) };
}

export async function getPrompt(call: Call): Promise<Json> {
  const prompt = offered().find(({ name }) => name === call.params.name);
  if (prompt === undefined) throw rpcError(-32602, `Unknown prompt: ${call.params.name}`);
  const given = argumentsOf(call);
  const missing = prompt.arguments?.find(({ name }) => given[name] === undefined);
  if (missing !== undefined) throw rpcError(-32602, `Missing argument: ${missing.name}`);
  const contents = await prompt.render(given, call);
  const messages = contents.map((content) => ({ role: "user", content }));
  return { description: prompt.description, messages };
}

const WORDS = ["paris", "park", "party", "hello", "world"];

/** Completes every argument of every prompt and template from the same few words. */
export function complete({ params }: Call): Json {
  const typed = String((params.argument as Json | undefined)?.value ?? "");
  const values = WORDS.filter((word) => word.startsWith(typed));
  return { completion: { values, total: values.length, hasMore: false } };
}
