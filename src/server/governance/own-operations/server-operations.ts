/** Servers that operators add while the gateway runs. Their endpoints are there at once. */
import * as z from "zod";
import { GatewayError, type Operation, requirePlatform } from "../../../contract/index.ts";
import { operation, schemaOf } from "../../../mechanisms/schemas/index.ts";
import { serverTable, tableId } from "./added-tables.ts";
import { changer, type TableParts, tableOrigin } from "./change-table.ts";

const serverShape = z.object({
  id: z.string(),
  status: z.string(),
  tools: z.number(),
  message: z.string().optional(),
  lastWords: z
    .array(z.string())
    .optional()
    .describe("What its program wrote to standard error last, of one that is not ok and runs in this process."),
  origin: tableOrigin,
  table: serverTable.optional().describe("As it was given here; what stands in the config is not told."),
});

export function serverOperations({ live, added, trail }: TableParts): readonly Operation[] {
  const change = changer({ live, added, trail });
  const etag = () => String(added.version);
  const list = () =>
    live.servers().map(({ id: server, status, tools, message, lastWords }) => {
      const table = added.find("server", server) as z.output<typeof serverTable> | undefined;
      const words = lastWords && { lastWords: [...lastWords] };
      const more = { ...(message !== undefined && { message }), ...words, ...(table && { table }) };
      return { id: server, status, tools, origin: table ? ("api" as const) : ("config" as const), ...more };
    });
  const find = (server: string) => {
    const found = list().find((one) => one.id === server);
    if (!found) throw new GatewayError("NO_SUCH_TARGET", { message: "There is no such server." });
    return found;
  };
  return [
    operation({
      id: "servers.list",
      method: "GET",
      path: "/api/servers",
      summary: "The servers behind the gateway, and how they are.",
      role: "viewer",
      input: schemaOf(z.strictObject({})),
      output: schemaOf(z.object({ servers: z.array(serverShape) })),
      run: async (_input, { principal }) => {
        requirePlatform(principal);
        return { body: { servers: list() } };
      },
    }),
    operation({
      id: "servers.get",
      method: "GET",
      path: "/api/servers/{serverId}",
      summary: "One server.",
      role: "viewer",
      input: schemaOf(z.strictObject({ serverId: tableId })),
      output: schemaOf(serverShape),
      run: async ({ serverId }, { principal }) => {
        requirePlatform(principal);
        return { body: find(serverId), etag: etag() };
      },
    }),
    operation({
      id: "servers.put",
      method: "PUT",
      path: "/api/servers/{serverId}",
      summary:
        "Adds a server that listens somewhere, or replaces one that was added so. `/{serverId}/mcp` is there at once.",
      role: "admin",
      input: schemaOf(z.strictObject({ serverId: tableId, body: serverTable })),
      output: schemaOf(serverShape),
      run: async ({ serverId, body }, context) => {
        await change("server", serverId, body, context);
        return { body: find(serverId), etag: etag() };
      },
    }),
    operation({
      id: "servers.remove",
      method: "DELETE",
      path: "/api/servers/{serverId}",
      summary: "Removes a server that was added here. Calls on it may end.",
      role: "admin",
      input: schemaOf(z.strictObject({ serverId: tableId })),
      run: async ({ serverId }, context) => {
        await change("server", serverId, undefined, context);
        return {};
      },
    }),
  ];
}
