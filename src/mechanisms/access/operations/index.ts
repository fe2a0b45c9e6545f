import type { Operation } from "../../../contract/index.ts";
import { bindingOperations } from "./binding-operations.ts";
import { decisionOperations } from "./decision-operations.ts";
import { grantOperations } from "./grant-operations.ts";
import type { AccessOperationParts } from "./parts.ts";
import { switchOperations } from "./switch-operations.ts";

export { isOfferedAt, placeFault } from "./exact-place.ts";
export { type OfferedPrimitive, requireKnownName } from "./parts.ts";

/** Everything that is done to the policy, and asked about it. */
export function accessOperations(parts: AccessOperationParts): readonly Operation[] {
  return [
    ...switchOperations(parts),
    ...bindingOperations(parts),
    ...decisionOperations(parts),
    ...grantOperations(parts),
  ];
}
