/**
 * Who may import whom inside src/. One line per family, each with its reason, and no exceptions list:
 * the first honest need for one is a design question and gets a decision record.
 */
import type { Edge } from "./imports.ts";

type Rule = { mayImport: readonly string[]; packages: boolean; because: string };

export const RULES: Readonly<Record<string, Rule>> = {
  contract: {
    mayImport: [],
    packages: false,
    because: "it is the waist: everything leans on it, so it leans on nothing",
  },
  wire: {
    mayImport: ["contract"],
    packages: true,
    because: "codecs are pure: bytes in, values out, testable without a gateway",
  },
  kernel: {
    mayImport: ["contract"],
    packages: false,
    because: "it moves calls and knows no protocol, provider or package",
  },
  stores: {
    mayImport: ["contract"],
    packages: true,
    because: "a store implements ports and must be replaceable by another",
  },
  mechanisms: {
    mayImport: ["contract"],
    packages: true,
    because: "a mechanism serves every dialect, so it knows none; what else it needs comes through a port",
  },
  stages: {
    mayImport: ["contract", "mechanisms"],
    packages: true,
    because: "a stage adapts a mechanism to a moment in the life of a call",
  },
  fronts: {
    mayImport: ["contract", "wire", "mechanisms"],
    packages: true,
    because: "a front turns bytes into calls and never sees who answers them",
  },
  providers: {
    mayImport: ["contract", "wire", "mechanisms"],
    packages: true,
    because: "a provider turns calls into bytes and never sees who asked",
  },
  server: {
    mayImport: ["contract", "wire", "kernel", "stores", "mechanisms", "stages", "fronts", "providers"],
    packages: true,
    because: "it is the composition root: the one place that wires concrete things together",
  },
  cli: {
    mayImport: ["contract", "wire", "server"],
    packages: true,
    because: "it starts the server, or speaks to a running one as a client in the words of the wire",
  },
};

// Families whose folders stand side by side and must not lean on each other.
const APART: Readonly<Record<string, string>> = {
  fronts: "a front never imports another front: what two share belongs in wire or a mechanism",
  providers: "a provider never imports another provider: what two share belongs in wire or a mechanism",
  stores: "a store never imports another store: each is a whole implementation of the ports",
};

/**
 * Folders of stores/ that are no store, but what several stores are made of: the tables, and the queries that are the same
 * for both SQL engines. A store may import them, they may import those before them here, and none of them a store.
 */
const STORE_PARTS: readonly string[] = ["migrations", "sql"];

/** A mechanism may import those before it here, so that there is always an order in which to read and start them. */
export const MECHANISM_ORDER: readonly string[] = [
  "schemas",
  "egress",
  "vault",
  "blobs",
  "bus",
  "delivery",
  "audit",
  "cluster",
  "sessions",
  "runs",
  "identity",
  "registry",
  "pins",
  "access",
  "screens",
  "limits",
  "approvals",
  "search",
  "specs",
];

/** What is wrong with an import, or undefined. Tests are not shipped and may put real neighbours together. */
export function judgeEdge({ from, to }: Edge): string | undefined {
  if (isTest(from) || to.startsWith("node:")) return undefined;
  const [, family = "", member = ""] = from.split("/");
  const rule = RULES[family];
  if (rule === undefined) return `${from}: "${family}" is not a family of src/`;
  const complain = (because: string) => `${from} imports ${to}: ${because}`;
  const kind = kindOf(to);
  if (kind === "package")
    return rule.packages ? undefined : complain(`${family} imports no npm package: ${rule.because}`);
  if (kind === "outside") return complain("shipped code imports only from src/");
  const [, toFamily = "", toMember = ""] = to.split("/");
  if (isTest(to)) return complain("shipped code does not import tests or fixtures");
  if (toFamily !== family) {
    return rule.mayImport.includes(toFamily)
      ? undefined
      : complain(`${family} may not import ${toFamily}: ${rule.because}`);
  }
  if (toMember === member) return undefined;
  if (family === "mechanisms") return judgeMechanisms(member, toMember, complain);
  if (family === "stores" && isStorePart(member, toMember)) return undefined;
  const apart = APART[family];
  return apart === undefined ? undefined : complain(apart);
}

function judgeMechanisms(member: string, toMember: string, complain: (because: string) => string): string | undefined {
  const [here, there] = [MECHANISM_ORDER.indexOf(member), MECHANISM_ORDER.indexOf(toMember)];
  if (here === -1 || there === -1) return complain("both must stand in MECHANISM_ORDER");
  return there < here ? undefined : complain(`mechanisms/${member} stands before ${toMember} and may not lean on it`);
}

function isStorePart(member: string, toMember: string): boolean {
  const [here, there] = [STORE_PARTS.indexOf(member), STORE_PARTS.indexOf(toMember)];
  return there !== -1 && (here === -1 || there < here);
}

function kindOf(to: string): "source" | "outside" | "package" {
  if (to.startsWith("src/")) return "source";
  return /^(?:tests|scripts|bench|examples|\.\.?)(?:\/|$)/.test(to) ? "outside" : "package";
}

function isTest(path: string): boolean {
  return /\.test(?:-d)?\.ts$/.test(path) || path.includes("/fixtures/");
}
