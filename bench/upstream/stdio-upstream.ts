/** The same server over stdio, one message per line: `node stdio-upstream.ts [--tools N]`. */
import { parseArgs } from "node:util";
import { createEchoAnswers, LEGACY } from "./echo-answers.ts";

const { values } = parseArgs({ options: { tools: { type: "string" } } });
const echo = createEchoAnswers(Number(values.tools ?? 20), LEGACY);

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk: string) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  // Answers to messages that arrived together leave together, as any server with a busy pipe does.
  const out: (string | Buffer)[] = [];
  for (const line of lines) {
    if (line.trim() === "") continue;
    const pieces = echo.answer(JSON.parse(line));
    if (pieces !== undefined) out.push(...pieces, "\n");
  }
  if (out.length === 0) return;
  process.stdout.write(
    out.every((piece) => typeof piece === "string")
      ? out.join("")
      : Buffer.concat(out.map((piece) => Buffer.from(piece))),
  );
});
process.stdin.on("end", () => process.exit(0));
