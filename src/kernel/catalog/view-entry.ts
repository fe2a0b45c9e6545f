import type { Entry, MappedUris, Next, Primitive, Target } from "../../contract/index.ts";

export type EntryMaker = {
  readonly provider: string;
  readonly uris: MappedUris | undefined;
  readonly compile: (entry: Entry) => Next;
};

/** A primitive in a view. Its pipeline is compiled when it is first called. */
export class ViewEntry implements Entry {
  readonly name: string;
  readonly target: Target;
  readonly primitive: Primitive;
  readonly uris: MappedUris | undefined;
  readonly #compile: (entry: Entry) => Next;
  #pipeline: Next | undefined;

  constructor(name: string, primitive: Primitive, { provider, uris, compile }: EntryMaker) {
    this.name = name;
    this.target = { provider, kind: primitive.kind, name: primitive.name };
    this.primitive = primitive;
    this.uris = uris;
    this.#compile = compile;
  }

  get pipeline(): Next {
    this.#pipeline ??= this.#compile(this);
    return this.#pipeline;
  }
}
