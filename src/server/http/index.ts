export { HttpListener } from "./listener.ts";
export { TrustedProxies } from "./trusted-proxies.ts";
