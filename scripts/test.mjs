/** All we promise, in one command. Arguments pick lanes: `npm test -- e2e`, `npm test -- chaos` for all of that name. */
import "./node24.mjs";
import { runLanes } from "./lane.mjs";

const names = [
  "check",
  "contract",
  "e2e",
  "conformance",
  "chaos:sessions",
  "chaos:governed",
  "chaos:stores",
  "chaos:kills",
  "requirements",
];

const wanted = process.argv.slice(2);
const isWanted = (name) => wanted.some((one) => name === one || name.startsWith(`${one}:`));
const lanes = names.filter((name) => wanted.length === 0 || isWanted(name));
await runLanes(lanes.map((name) => [name, "npm", "run", "-s", name]));
