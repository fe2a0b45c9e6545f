import type { Json } from "../sdk.ts";
import { PNG } from "./samples.ts";
import { type Call, rpcError } from "./session.ts";

type Prompt = {
  readonly name: string;
  readonly description: string;
  readonly arguments?: readonly { name: string; description: string; required: true }[];
  render(given: Json): Json[];
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
];

export function listPrompts(): Json {
  return { prompts: prompts.map(({ render: _, ...listed }) => listed) };
}

export function getPrompt({ params }: Call): Json {
  const prompt = prompts.find(({ name }) => name === params.name);
  if (prompt === undefined) throw rpcError(-32602, `Unknown prompt: ${params.name}`);
  const given = (params.arguments ?? {}) as Json;
  const missing = prompt.arguments?.find(({ name }) => given[name] === undefined);
  if (missing !== undefined) throw rpcError(-32602, `Missing argument: ${missing.name}`);
  const messages = prompt.render(given).map((content) => ({ role: "user", content }));
  return { description: prompt.description, messages };
}

const WORDS = ["paris", "park", "party", "hello", "world"];

/** Completes every argument of every prompt and template from the same few words. */
export function complete({ params }: Call): Json {
  const typed = String((params.argument as Json | undefined)?.value ?? "");
  const values = WORDS.filter((word) => word.startsWith(typed));
  return { completion: { values, total: values.length, hasMore: false } };
}
