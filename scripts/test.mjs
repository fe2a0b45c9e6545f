/** All we promise, in one command. Arguments pick lanes: `npm test -- e2e`. */
import "./node24.mjs";
import { runLanes } from "./lane.mjs";

const lanes = ["check", "e2e", "conformance", "requirements"].map((name) => [name, "npm", "run", "-s", name]);

const wanted = process.argv.slice(2);
await runLanes(wanted.length === 0 ? lanes : lanes.filter(([name]) => wanted.includes(name)));
