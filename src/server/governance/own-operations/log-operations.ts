import * as z from "zod";
import { type Operation, requirePlatform } from "../../../contract/index.ts";
import { operation, schemaOf } from "../../../mechanisms/schemas/index.ts";
import { LOG_LEVELS } from "../../log-level.ts";
import type { RecentLines } from "../../recent-lines.ts";

const filter = {
  level: z.enum(LOG_LEVELS).default("info").describe("The least important lines to show."),
  text: z
    .string()
    .max(256)
    .optional()
    .describe("Only lines that have this text, such as the id of a call or a server."),
};

const MAX_SHOWN = 1_000;

/** What this process has written to its log. Every tenant's calls are in it, so it is the platform's. */
export function logOperations(lines: RecentLines): readonly Operation[] {
  return [
    operation({
      id: "logs.list",
      method: "GET",
      path: "/api/logs",
      summary: "The last lines of the log of this process, oldest first.",
      role: "operator",
      input: schemaOf(z.strictObject({ ...filter, limit: z.coerce.number().int().min(1).max(MAX_SHOWN).default(100) })),
      output: schemaOf(z.object({ lines: z.array(z.record(z.string(), z.unknown())) })),
      run: async ({ level, text, limit }, { principal }) => {
        requirePlatform(principal);
        const found = lines.list({ level, limit, words: text === undefined ? [] : [text] });
        return { body: { lines: found.map((line) => JSON.parse(line) as Record<string, unknown>) } };
      },
    }),
    operation({
      id: "logs.listen",
      method: "GET",
      path: "/api/logs/stream",
      summary: "The lines of the log of this process, as they are written.",
      role: "operator",
      isStream: true,
      input: schemaOf(z.strictObject(filter)),
      run: async ({ level, text }, { principal }) => {
        requirePlatform(principal);
        return {
          events(write, signal) {
            const words = text === undefined ? [] : [text];
            const stop = lines.listen({ level, words }, (line) => write("log", line));
            signal.addEventListener("abort", stop, { once: true });
          },
        };
      },
    }),
  ];
}
