export { HttpListener, type HttpListenerOptions } from "./listener.ts";
