import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualTime } from "../../../tests/kit/manual-time.ts";
import { describeSharedState } from "../../../tests/kit/shared-state/shared-state-suite.ts";
import { createMemorySharedState } from "../memory/index.ts";
import { openSqlite } from "./connection.ts";
import { createSqliteSharedState } from "./shared-state.ts";

describeSharedState("SQLite", async () => {
  const folder = mkdtempSync(join(tmpdir(), "isthmus-sqlite-"));
  const connection = await openSqlite(join(folder, "state.db"));
  const clock = new ManualTime();
  const fleeting = createMemorySharedState({ clock });
  const state = createSqliteSharedState({ connection, clock, now: () => clock.now(), fleeting });
  return {
    here: state,
    there: state,
    elapse: async (ms) => clock.advance(ms),
    jump: async (ms) => clock.advance(ms),
    async close() {
      await state.close();
      connection.close();
      rmSync(folder, { recursive: true });
    },
  };
});
