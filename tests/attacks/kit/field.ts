/** A gateway to attack, of one process, with tokens for those who do it. */
import { Workspace } from "../../e2e/identity/workspace.ts";

export type FieldOptions = {
  /** All tables but those of the stores; lines of `[gateway]` may stand in `gateway`. */
  readonly config: string;
  readonly gateway?: string;
  /** Of its processes, beside what each has. */
  readonly env?: Readonly<Record<string, string>>;
  /** How many files each process may open; unset: as many as here. */
  readonly openFiles?: number;
  /** By name: the arguments of `isthmus token create`. */
  readonly tokens?: Readonly<Record<string, readonly string[]>>;
};

export type Field = AsyncDisposable & {
  readonly origins: readonly string[];
  readonly tokens: Readonly<Record<string, string>>;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): ReturnType<Workspace["run"]>;
  folder(at: number): string;
  /** Of the user that it runs as, and that verbs run as. */
  readonly home: string;
  log(): string;
};

export async function startOne(options: FieldOptions): Promise<Field> {
  const place = new Workspace(`[gateway]\n${options.gateway ?? ""}\n${options.config}`);
  const tokens = await createTokens(place, options);
  const origin = await place.up("127.0.0.1:0", { HOME: place.folder, ...options.env }, options.openFiles);
  return {
    origins: [origin],
    tokens,
    run: (args, env) => place.run(args, { ISTHMUS_LISTEN: new URL(origin).host, ...env }),
    folder: () => place.folder,
    home: place.folder,
    log: () => place.log,
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

/** One after the other: the database is of one process. */
async function createTokens(place: Workspace, { tokens = {} }: FieldOptions): Promise<Record<string, string>> {
  const made: Record<string, string> = {};
  for (const [name, args] of Object.entries(tokens)) made[name] = await place.createToken(...args);
  return made;
}
