export { ownConnectionBound, ownUpstreamBound, PORTS_OF_MEMBER } from "./connection-bound.ts";
export { EdgeLimiter, networkOf } from "./edge-limiter.ts";
export { Handshakes } from "./handshakes.ts";
export { listenOn } from "./listen-on.ts";
export { HttpListener } from "./listener.ts";
export type { TlsTerms } from "./tls-server.ts";
export { TrustedProxies } from "./trusted-proxies.ts";
