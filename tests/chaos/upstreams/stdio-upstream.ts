/** The counting server on standard input and output: `node stdio-upstream.ts RECORD`. One process is one session. */
import { createInterface } from "node:readline";
import { CountingServer, type Message } from "./counting-server.ts";

const [record = ""] = process.argv.slice(2);
const server = new CountingServer(record);
const session = { id: `stdio-${process.pid}`, count: 0 };

createInterface({ input: process.stdin }).on("line", (line) => {
  void server.answer(JSON.parse(line) as Message, session).then((answer) => {
    if (answer) process.stdout.write(`${JSON.stringify(answer)}\n`);
  });
});
process.stdin.on("end", () => process.exit(0));
