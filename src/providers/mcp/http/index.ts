export type { HttpClient } from "./http-client.ts";
export { createHttpClient } from "./http-client.ts";
export type { HttpExchange, HttpFailure, HttpHandler, HttpSend } from "./http-exchange.ts";
export { createSocketOpener, type SocketOpener } from "./open-socket.ts";
export type { ResponseHead } from "./response-head.ts";
export { SocketBound } from "./socket-bound.ts";
