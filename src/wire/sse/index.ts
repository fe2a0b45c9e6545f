export type { SseDecoder, SseEvent } from "./sse-decoder.ts";
export { createSseDecoder } from "./sse-decoder.ts";
export { encodeSse, encodeSseComment } from "./sse-encoder.ts";
