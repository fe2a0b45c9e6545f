/** What is served under /api, made of the operations that serve it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Operation } from "../../src/contract/index.ts";
import { describeApi } from "../../src/fronts/admin/index.ts";
import { loadConfig } from "../../src/server/config/load-config.ts";
import { createGateway } from "../../src/server/gateway.ts";
import { createLog } from "../../src/server/log.ts";
import { openState } from "../../src/server/state/index.ts";
import { type Generator, type Page, page, REFERENCE, table } from "./page.ts";

export const apiGenerator: Generator = { name: "api", pages };

async function pages(): Promise<readonly Page[]> {
  const operations = await listOperations();
  const { info } = describeApi(operations, "") as { info: { description: string } };
  const groups = Map.groupBy(operations, ({ path }) => path.split("/")[2] ?? "");
  const sections = [...groups]
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([name, all]) => section(name, all));
  return [
    page(
      `${REFERENCE}/api.md`,
      "# API",
      `${info.description} A running gateway describes all of it as OpenAPI 3.1 at \`/openapi.json\`.`,
      "Bodies are JSON, or YAML. Errors are `application/problem+json` (RFC 9457), with the codes of [errors](errors.md) and, where the input is wrong, `problems` that say what is wrong where. Answers carry an `ETag`; a change of policy, limits, servers or catalogs with `If-Match` is refused with 412 where it is another one by now.",
      ...sections,
    ),
  ];
}

/** Of a gateway that has everything, which is never opened. */
async function listOperations(): Promise<readonly Operation[]> {
  const folder = await mkdtemp(join(tmpdir(), "isthmus-api-"));
  try {
    const url = `sqlite:${join(folder, "api.db")}`;
    const table = { auth: { tokens: true }, database: { url }, gateway: { state: folder } };
    const config = loadConfig({ table, originOf: () => undefined, files: [] }, { env: {} });
    const log = createLog({ level: "error", format: "json", write: () => undefined });
    const state = await openState(config.state, log);
    const gateway = createGateway(config, { log, env: {}, state });
    const operations = await gateway.operations();
    await gateway.close();
    return operations;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function section(name: string, operations: readonly Operation[]): string {
  const rows = operations.map((one) => [`\`${one.method} ${one.path}\``, one.role, one.summary, taken(one)]);
  return [`## ${name}`, table(["", "role", "what it does", "what it takes"], rows)].join("\n\n");
}

type Described = {
  type?: string;
  properties?: Record<string, Described>;
  required?: readonly string[];
  items?: Described;
};

/** The names of what stands in the query and in the body; a question mark where it may be left out. */
function taken({ input, path }: Operation): string {
  const { properties = {}, required = [] } = input.json as Described;
  const query = Object.keys(properties).filter((key) => key !== "body" && !path.includes(`{${key}}`));
  const asked = query.map((key) => `\`?${key}=\`${required.includes(key) ? "" : "?"}`);
  return [...asked, ...namesIn(properties.body)].join(", ");
}

function namesIn(body: Described | undefined): readonly string[] {
  if (body?.items) return [`a list of ${namesIn(body.items).join(", ")}`];
  const { properties = {}, required = [] } = body ?? {};
  return Object.keys(properties).map((key) => `\`${key}\`${required.includes(key) ? "" : "?"}`);
}
