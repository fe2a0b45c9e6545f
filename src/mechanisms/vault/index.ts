export { openKeyFile, rotateKeyFile } from "./key-file.ts";
export { MemoryTokenRows } from "./memory-token-rows.ts";
export { createSeal } from "./seal.ts";
export { type FoundToken, TokenVault } from "./token-vault.ts";
export { fleetingKeys, wrappingKeys } from "./wrapping-keys.ts";
