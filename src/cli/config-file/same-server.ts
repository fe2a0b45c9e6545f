/** Whether two tables are about one server: started or reached alike, with the same settings. */
import { objectOf } from "../json.ts";
import type { NewServer } from "./server-text.ts";

type Words = Readonly<Record<string, unknown>>;

/** `one`: a table of `[[servers]]`. Ids and prefixes are names that we gave, and say nothing. */
export function isSameServer(one: Words, other: Omit<NewServer, "id">): boolean {
  const { command, args = [], cwd, url, env = {}, headers = {} } = other;
  return (
    one.command === command &&
    one.url === url &&
    one.cwd === cwd &&
    JSON.stringify(one.args ?? []) === JSON.stringify(args) &&
    hasSameWords(objectOf(one.env), env) &&
    hasSameWords(objectOf(one.headers), headers)
  );
}

/** The same names, and the same values where both are written out: a secret may have moved to a file here. */
function hasSameWords(one: Words, other: Words): boolean {
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => {
    if (!Object.hasOwn(other, name)) return false;
    const [here, there] = [one[name], other[name]];
    return typeof here !== "string" || typeof there !== "string" || here === there;
  });
}
