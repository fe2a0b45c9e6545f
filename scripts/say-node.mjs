/** After `npm install`: one line where npm itself runs on a Node that is too old for the program, nothing elsewhere. */
import { readFileSync } from "node:fs";

const [, major, minor] = /\bnode\/v(\d+)\.(\d+)/.exec(process.env.npm_config_user_agent ?? "") ?? [];
const { engines } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const [wantedMajor, wantedMinor] = engines.node.match(/\d+/g).map(Number);
const isOld = Number(major) < wantedMajor || (Number(major) === wantedMajor && Number(minor) < wantedMinor);
if (isOld) {
  process.stdout.write(
    `npm runs on Node ${major}.${minor}, which is too old for Isthmus: here, what npm starts runs on Node ${process.versions.node} instead.\n`,
  );
}
