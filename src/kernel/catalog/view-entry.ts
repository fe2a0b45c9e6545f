import type { Entry, Next, Primitive, Target } from "../../contract/index.ts";

/** A primitive in a view. Its pipeline is compiled when it is first called. */
export class ViewEntry implements Entry {
  readonly name: string;
  readonly target: Target;
  readonly primitive: Primitive;
  readonly #compile: (entry: Entry) => Next;
  #pipeline: Next | undefined;

  constructor(name: string, provider: string, primitive: Primitive, compile: (entry: Entry) => Next) {
    this.name = name;
    this.target = { provider, kind: primitive.kind, name: primitive.name };
    this.primitive = primitive;
    this.#compile = compile;
  }

  get pipeline(): Next {
    this.#pipeline ??= this.#compile(this);
    return this.#pipeline;
  }
}
