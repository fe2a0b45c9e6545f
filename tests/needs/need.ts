/** What tests need of the machine they run on. Tests only look for it; `npm run needs` brings it, before any of them runs. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export type Need = {
  readonly name: string;
  /** The Debian packages that have it; none for what `make` makes of other needs. */
  readonly aptPackages: readonly string[];
  /** Where it is; undefined where it is missing. */
  find(): string | undefined;
  /** What must be there before `make` is called. */
  readonly madeOf?: readonly Need[];
  /** Makes it, as the user who runs the tests. */
  make?(): void;
};

export type WantedProgram = {
  readonly name: string;
  /** Where else than in PATH packages put it; a function where that depends on what is installed. */
  readonly folders?: readonly string[] | (() => readonly string[]);
  readonly aptPackage: string;
};

export function programNeed({ name, folders = [], aptPackage }: WantedProgram): Need {
  const places = () => [
    ...(typeof folders === "function" ? folders() : folders),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return {
    name,
    aptPackages: [aptPackage],
    find: () =>
      places()
        .map((folder) => join(folder, name))
        .find(isExecutable),
  };
}

/** Where it is. A test that gets here without it was started past `npm run needs`. */
export function pathOf(need: Need): string {
  const path = need.find();
  if (path === undefined)
    throw new Error(`${describeMissing([need])}; \`npm run needs\` says or does what is to be done`);
  return path;
}

/** Those of them, and of what they are made of, that are missing; what cannot be made for lack of another is not named itself. */
export function missingOf(needs: readonly Need[]): Need[] {
  const missing = needs.flatMap((need) => {
    const base = missingOf(need.madeOf ?? []);
    return base.length > 0 || need.find() !== undefined ? base : [need];
  });
  return [...new Set(missing)];
}

/** "needs redis-server, nginx (apt-get install redis-server nginx-light)" */
export function describeMissing(missing: readonly Need[]): string {
  const names = missing.map(({ name }) => name).join(", ");
  const packages = packagesOf(missing);
  return packages.length === 0 ? `needs ${names}` : `needs ${names} (apt-get install ${packages.join(" ")})`;
}

export function packagesOf(needs: readonly Need[]): string[] {
  return [...new Set(needs.flatMap(({ aptPackages }) => aptPackages))];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
