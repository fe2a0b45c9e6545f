export { readJson } from "./bounded-json.ts";
export { Identity } from "./identity.ts";
export { IssuerKeys } from "./issuer-keys.ts";
export { JwtVerifier } from "./jwt-verifier.ts";
export { Resource } from "./resource.ts";
export { principalOfToken } from "./static-token.ts";
