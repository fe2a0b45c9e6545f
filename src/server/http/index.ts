export { HttpListener } from "./listener.ts";
