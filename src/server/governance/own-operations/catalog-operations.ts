/** Catalogs that operators add while the gateway runs. Their endpoints are there at once. */
import * as z from "zod";
import { GatewayError, type Operation, requirePlatform } from "../../../contract/index.ts";
import { operation, schemaOf } from "../../../mechanisms/schemas/index.ts";
import { catalogTable, tableId } from "./added-tables.ts";
import { changer, type TableParts, tableOrigin } from "./change-table.ts";

const catalogShape = z.object({ id: z.string(), origin: tableOrigin, table: catalogTable });

export function catalogOperations({ live, added, trail }: TableParts): readonly Operation[] {
  const change = changer({ live, added, trail });
  const etag = () => String(added.version);
  const list = () =>
    live.config().catalogs.map(({ id: catalog, ...table }) => ({
      id: catalog,
      origin: added.find("catalog", catalog) ? ("api" as const) : ("config" as const),
      table: table as z.output<typeof catalogTable>,
    }));
  const find = (catalog: string) => {
    const found = list().find((one) => one.id === catalog);
    if (!found) throw new GatewayError("NO_SUCH_TARGET", { message: "There is no such catalog." });
    return found;
  };
  return [
    operation({
      id: "catalogs.list",
      method: "GET",
      path: "/api/catalogs",
      summary: "The catalogs: parts of what the servers offer, each with an address of its own.",
      role: "viewer",
      input: schemaOf(z.strictObject({})),
      output: schemaOf(z.object({ catalogs: z.array(catalogShape) })),
      run: async (_input, { principal }) => {
        requirePlatform(principal);
        return { body: { catalogs: list() } };
      },
    }),
    operation({
      id: "catalogs.get",
      method: "GET",
      path: "/api/catalogs/{catalogId}",
      summary: "One catalog.",
      role: "viewer",
      input: schemaOf(z.strictObject({ catalogId: tableId })),
      output: schemaOf(catalogShape),
      run: async ({ catalogId }, { principal }) => {
        requirePlatform(principal);
        return { body: find(catalogId), etag: etag() };
      },
    }),
    operation({
      id: "catalogs.put",
      method: "PUT",
      path: "/api/catalogs/{catalogId}",
      summary: "Adds a catalog, or replaces one that was added so. `/{catalogId}/mcp` is there at once.",
      role: "admin",
      input: schemaOf(z.strictObject({ catalogId: tableId, body: catalogTable })),
      output: schemaOf(catalogShape),
      run: async ({ catalogId, body }, context) => {
        await change("catalog", catalogId, body, context);
        return { body: find(catalogId), etag: etag() };
      },
    }),
    operation({
      id: "catalogs.remove",
      method: "DELETE",
      path: "/api/catalogs/{catalogId}",
      summary: "Removes a catalog that was added here. Sessions in it end.",
      role: "admin",
      input: schemaOf(z.strictObject({ catalogId: tableId })),
      run: async ({ catalogId }, context) => {
        await change("catalog", catalogId, undefined, context);
        return {};
      },
    }),
  ];
}
