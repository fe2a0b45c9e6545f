/** `npm run servers`: makes sure that Redis, PostgreSQL and nginx are here, or says in one line each what is missing. */
import { nginxProgram, postgresProgram, redisProgram } from "./programs.ts";

for (const find of [redisProgram, () => postgresProgram("postgres"), nginxProgram]) {
  try {
    find();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}
