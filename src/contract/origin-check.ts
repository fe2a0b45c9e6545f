/** Why a request is turned away before anybody asks who sends it: by the name that it came to, or the page that it came from. */
export type OriginFault = "host" | "origin";

/** Says what to do, because whoever reads it may be setting the gateway up. */
export const ORIGIN_TEXTS: Readonly<Record<OriginFault, string>> = {
  host: "This Host is not served here; add it to allowedHosts if it should be",
  origin: "This Origin may not use the gateway; add it to allowedOrigins if it should",
};
