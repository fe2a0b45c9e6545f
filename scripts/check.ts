/** Everything that can be judged without starting the gateway. Arguments pick lanes: `npm run check -- types`. */
import { runLanes } from "./lane.ts";

const lanes: readonly (readonly [string, string, ...string[]])[] = [
  ["lint", "biome", "ci", process.stdout.isTTY ? "--colors=force" : "--colors=off"],
  ["types", "tsc", "-p", "tsconfig.json"],
  ["dead-code", "knip"],
  ["generated", "npm", "run", "-s", "generate", "--", "--check"],
  ["unit", "npm", "run", "-s", "unit"],
];

const wanted = process.argv.slice(2);
await runLanes(wanted.length === 0 ? lanes : lanes.filter(([name]) => wanted.includes(name)));
