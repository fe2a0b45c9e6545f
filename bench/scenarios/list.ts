/** tools/list in one answer, with 20, 1,000 and 10,000 tools. */
import { asShare, divide, judge } from "../measure/stats.ts";
import { type Bench, startField } from "./field.ts";
import { type Figures, measureLoaded } from "./loaded-rounds.ts";

const SESSIONS = 4;
const CONTENDERS = ["direct", "isthmus", "isthmus twin"];
const JUDGED_TOOL_COUNT = 10_000;

export async function benchLists(bench: Bench): Promise<void> {
  const columns: Map<number, Map<string, Figures>> = new Map();
  for (const toolCount of bench.options.toolCounts) {
    const field = await startField(bench, "http", toolCount);
    try {
      const result = await measureLoaded(bench, {
        title: `tools/list, ${toolCount} tools`,
        running: field.running,
        sessions: SESSIONS,
        load: "list",
        controls: [["isthmus", "isthmus twin"]],
        settleOn: toolCount === JUDGED_TOOL_COUNT ? ["callsPerSecond"] : [],
        isContender: (name) => CONTENDERS.includes(name),
      });
      columns.set(toolCount, result.figures);
      if (toolCount !== JUDGED_TOOL_COUNT) continue;
      const own = result.figures.get("isthmus")?.callsPerSecond;
      bench.report.addVerdict(
        judge({
          bar: "tools/list with 10,000 tools >= 80 % of the direct rate",
          value: divide(own, result.figures.get("direct")?.callsPerSecond),
          limit: 0.8,
          atLeast: true,
          control: result.control("callsPerSecond"),
          format: asShare,
        }),
      );
    } finally {
      await field.stop();
    }
  }
  const counts = [...columns.keys()];
  const names = bench.candidates
    .map(({ name }) => name)
    .filter((name) => counts.some((n) => columns.get(n)?.has(name)));
  bench.report.addTable({
    title: `tools/list, lists per second and CPU ms per list, HTTP upstream, ${SESSIONS} sessions`,
    columns: ["candidate", ...counts.flatMap((count) => [`${count} tools`, "CPU ms"])],
    rows: names.map((name) => [
      name,
      ...counts.flatMap((count) => {
        const figures = columns.get(count)?.get(name);
        return [figures?.callsPerSecond.toFixed(figures.callsPerSecond < 100 ? 1 : 0), figures?.cpuMs?.toFixed(3)];
      }),
    ]),
  });
}
