/** What a tool says about itself: MCP-AX's annotation where it has one, else what MCP's hints come to. */

export type Capability = {
  readonly latency_class: string;
  readonly consistency: string;
  readonly mutable: boolean;
  readonly reversible: boolean;
  readonly idempotent: boolean;
  readonly transport: string;
  readonly auth_scope: string;
  readonly cost_class: string;
  readonly availability: string;
  readonly schema_version: string;
};

type Members = Readonly<Record<string, unknown>>;

/** What is declared about the harm a call can do. `isDeclared` false: nothing is, and these are the defaults of MCP. */
export type Declared = { readonly mutable: boolean; readonly reversible: boolean; readonly isDeclared: boolean };

export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/**
 * Whoever says less than is needed is taken at the worst: a member that is missing or no boolean counts as mutable, and as not
 * reversible. A tool whose two annotations contradict each other is taken at the worse one.
 */
export function declaredBy(definition: Members): Declared {
  const annotation = membersOf(membersOf(definition._meta)["x-mcpax-capability"]);
  const { readOnlyHint, destructiveHint } = membersOf(definition.annotations);
  const isDestructive = destructiveHint === true;
  if ("mutable" in annotation || "reversible" in annotation) {
    const mutable = annotation.mutable !== false || isDestructive;
    return { mutable, reversible: !mutable || (annotation.reversible === true && !isDestructive), isDeclared: true };
  }
  if (isDestructive) return { mutable: true, reversible: false, isDeclared: true };
  if (readOnlyHint === true) return { mutable: false, reversible: true, isDeclared: true };
  return { mutable: true, reversible: destructiveHint === false, isDeclared: destructiveHint === false };
}

/** The annotation as it is, with what it leaves out. */
export function capabilityOf(definition: Members): Capability & Members {
  const annotation = membersOf(membersOf(definition._meta)["x-mcpax-capability"]);
  const { mutable, reversible } = declaredBy(definition);
  return {
    latency_class: "standard",
    consistency: "best_effort",
    idempotent: membersOf(definition.annotations).idempotentHint === true,
    transport: "native",
    auth_scope: mutable ? "write" : "read",
    cost_class: "metered",
    availability: "best_effort",
    schema_version: "0.0.0",
    ...annotation,
    mutable,
    reversible,
  };
}
