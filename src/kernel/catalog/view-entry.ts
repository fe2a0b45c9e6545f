import type { Entry, MappedUris, Next, Primitive, Target } from "../../contract/index.ts";

export type EntryMaker = {
  readonly provider: string;
  readonly uris: MappedUris | undefined;
  readonly compiler: Compiler;
  readonly template?: Target | undefined;
  readonly templates?: readonly Target[] | undefined;
};

/** Makes pipelines. Those of a former generation are not used any more: what they were made of has changed. */
export interface Compiler {
  readonly generation: number;
  compile(entry: Entry): Next;
}

/** A primitive in a view. Its pipeline is compiled when it is first called. */
export class ViewEntry implements Entry {
  readonly name: string;
  readonly target: Target;
  readonly primitive: Primitive;
  readonly uris: MappedUris | undefined;
  readonly template: Target | undefined;
  readonly templates: readonly Target[] | undefined;
  readonly #compiler: Compiler;
  #generation = -1;
  #pipeline: Next | undefined;

  constructor(name: string, primitive: Primitive, { provider, uris, compiler, template, templates }: EntryMaker) {
    this.name = name;
    this.target = { provider, kind: primitive.kind, name: primitive.name };
    this.primitive = primitive;
    this.uris = uris;
    this.template = template;
    this.templates = templates;
    this.#compiler = compiler;
  }

  get pipeline(): Next {
    const { generation } = this.#compiler;
    if (this.#pipeline && this.#generation === generation) return this.#pipeline;
    this.#generation = generation;
    this.#pipeline = this.#compiler.compile(this);
    return this.#pipeline;
  }
}
