export { readJson } from "./bounded-json.ts";
export { Identity } from "./identity.ts";
export { IssuerKeys } from "./issuer-keys.ts";
export { JwtVerifier } from "./jwt-verifier.ts";
export { LocalOperator } from "./local-operator.ts";
export { operatorOperations } from "./operator-operations.ts";
export { type RequesterTag, requesterTag } from "./requester-tag.ts";
export { Resource } from "./resource.ts";
export { principalOfToken } from "./static-token.ts";
