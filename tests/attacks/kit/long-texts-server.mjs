// A server on stdio whose templates, URIs and notices are made to cost others time. Arguments: JSON of
// { id, resources, templates, expressions, slashes }: its id in the config, and how many of each.
import { createInterface } from "node:readline";

const { id: own, resources = 0, templates = 0, expressions = 0, slashes = 0 } = JSON.parse(process.argv[2] ?? "{}");
const NOTICES = 60;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const many = (length, make) => Array.from({ length }, (_, at) => make(at));

const methods = {
  initialize: () => ({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, resources: { subscribe: true } },
    serverInfo: { name: "long-texts", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "go", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "gone" }] }),
  // What a mapped URI of its own would look like.
  "resources/list": () => ({ resources: many(resources, (at) => ({ name: `r${at}`, uri: `${own}+file:///${at}` })) }),
  "resources/templates/list": () => ({
    resourceTemplates: many(templates, (at) => ({
      name: `t${at}`,
      uriTemplate: `file:///{+a}${"{}".repeat(expressions)}!${at}`,
    })),
  }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (!methods[method]) return send({ id, error: { code: -32601, message: "unknown" } });
  send({ id, result: methods[method](params) });
  if (method !== "tools/call") return;
  const uri = `x:${"/".repeat(slashes)}`;
  for (let left = NOTICES; left > 0; left--) send({ method: "notifications/resources/updated", params: { uri } });
});
process.stdin.on("end", () => process.exit(0));
