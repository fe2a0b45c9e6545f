export type DemoArguments = Readonly<Record<string, unknown>>;

type Report = (progress: number, total: number) => Promise<void>;

type DemoTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: object;
  run(args: DemoArguments, report: Report): Promise<object>;
};

const text = (value: string) => ({ content: [{ type: "text", text: value }] });

export const DEMO_TOOLS: readonly DemoTool[] = [
  {
    name: "greet",
    description: "Greets someone by name.",
    inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    annotations: { readOnlyHint: true },
    run: async ({ name }) => text(`Hello, ${String(name ?? "stranger")}!`),
  },
  {
    name: "add",
    description: "Adds two numbers.",
    inputSchema: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    },
    annotations: { readOnlyHint: true },
    run: async ({ a, b }) => text(String(Number(a) + Number(b))),
  },
  {
    name: "count",
    description: "Counts slowly and reports progress on the way.",
    inputSchema: {
      type: "object",
      properties: { to: { type: "integer", minimum: 1, maximum: 100 } },
      required: ["to"],
    },
    annotations: { readOnlyHint: true },
    run: async ({ to }, report) => {
      const total = Math.min(Math.max(Math.trunc(Number(to)) || 1, 1), 100);
      for (let step = 1; step <= total; step++) await report(step, total);
      return text(`Counted to ${total}.`);
    },
  },
  {
    name: "forget",
    description: "Forgets someone for good; somebody must approve that.",
    inputSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    annotations: { destructiveHint: true },
    run: async ({ name }) => text(`Forgot ${String(name ?? "nobody")}.`),
  },
];
