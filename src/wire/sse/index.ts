export type { SseDecoder, SseEvent } from "./sse-decoder.ts";
export { createSseDecoder, MAX_EVENT_ID } from "./sse-decoder.ts";
export { encodeSse, encodeSseComment } from "./sse-encoder.ts";
