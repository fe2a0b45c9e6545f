export type { SseDecoder, SseDecoderOptions, SseEvent } from "./sse-decoder.ts";
export { createSseDecoder } from "./sse-decoder.ts";
export type { SseFields } from "./sse-encoder.ts";
export { encodeSse, encodeSseComment } from "./sse-encoder.ts";
