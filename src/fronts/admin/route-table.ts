/** Which operation a path means. Built once of what the operations say about themselves. */
import type { Operation } from "../../contract/index.ts";

export type RoutedOperation = { readonly operation: Operation; readonly parameters: Readonly<Record<string, string>> };

export type Routed =
  | RoutedOperation
  /** The path is there, and not with this method. */
  | { readonly allow: readonly string[] }
  | undefined;

type Route = { readonly segments: readonly string[]; readonly operations: Map<string, Operation> };

const PARAMETER = /^\{(\w+)\}$/;

export class RouteTable {
  readonly #byLength = new Map<number, Route[]>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) this.#add(operation);
    // A path that is written out goes before one with a parameter in the same place.
    for (const routes of this.#byLength.values())
      routes.sort((one, other) => countParameters(one) - countParameters(other));
  }

  #add(operation: Operation): void {
    const segments = operation.path.split("/").slice(1);
    const routes = this.#byLength.get(segments.length) ?? [];
    this.#byLength.set(segments.length, routes);
    const shape = shapeOf(segments);
    let route = routes.find((other) => shapeOf(other.segments) === shape);
    if (!route) {
      route = { segments, operations: new Map() };
      routes.push(route);
    }
    if (route.operations.has(operation.method)) {
      throw new Error(`two operations are served at ${operation.method} ${operation.path}`);
    }
    route.operations.set(operation.method, operation);
  }

  /** `path` as it stands in the request line, without its query. */
  find(method: string, path: string): Routed {
    const written = path.split("/").slice(1);
    const route = this.#byLength
      .get(written.length)
      ?.find(({ segments }) => segments.every((one, at) => fits(one, written[at] ?? "")));
    if (!route) return undefined;
    const operation = route.operations.get(method === "HEAD" ? "GET" : method);
    if (operation?.isOffered?.() === false) return undefined;
    if (!operation) return { allow: allowed(route) };
    const parameters = readParameters(operation, written);
    return parameters && { operation, parameters };
  }
}

function allowed({ operations }: Route): string[] {
  const methods = [...operations.keys()];
  return methods.includes("GET") ? [...methods, "HEAD"] : methods;
}

function fits(segment: string, written: string): boolean {
  return PARAMETER.test(segment) ? written !== "" : segment === written;
}

/** Undefined: it is no text, so nothing is there. */
function readParameters({ path }: Operation, written: readonly string[]): Record<string, string> | undefined {
  try {
    const named = path
      .split("/")
      .slice(1)
      .flatMap((segment, at): [string, string][] => {
        const name = PARAMETER.exec(segment)?.[1];
        return name === undefined ? [] : [[name, decodeURIComponent(written[at] ?? "")]];
      });
    return Object.fromEntries(named);
  } catch {
    return undefined;
  }
}

function shapeOf(segments: readonly string[]): string {
  return segments.map((segment) => (PARAMETER.test(segment) ? "{}" : segment)).join("/");
}

function countParameters({ segments }: Route): number {
  return segments.filter((segment) => PARAMETER.test(segment)).length;
}
