/** Tools that answer at once with fixed content. */
import type { Json } from "../sdk.ts";
import { PNG, WAV } from "./samples.ts";
import { NO_ARGUMENTS, type Tool, text } from "./tool.ts";

function fixed(name: string, description: string, result: Json): Tool {
  return { name, description, inputSchema: NO_ARGUMENTS, run: async () => result };
}

const image = { type: "image", data: PNG, mimeType: "image/png" };

function embedded(uri: string, mimeType: string, value: string): Json {
  return { type: "resource", resource: { uri, mimeType, text: value } };
}

export const contentTools: readonly Tool[] = [
  fixed("test_simple_text", "Answers with one text", text("This is a simple text response for testing.")),
  fixed("test_image_content", "Answers with an image", { content: [image] }),
  fixed("test_audio_content", "Answers with audio", {
    content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }],
  }),
  fixed("test_embedded_resource", "Answers with an embedded resource", {
    content: [embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
  }),
  fixed("test_multiple_content_types", "Answers with text, an image and a resource", {
    content: [
      { type: "text", text: "Multiple content types test:" },
      image,
      embedded("test://mixed-content-resource", "application/json", JSON.stringify({ test: "data", value: 123 })),
    ],
  }),
  fixed("test_error_handling", "Always fails", {
    isError: true,
    ...text("This tool intentionally returns an error for testing"),
  }),
];
