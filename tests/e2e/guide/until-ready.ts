/** `until-ready.ts redis|postgres PORT`: ends with 0 when that server serves. Run in the network where it is. */
import { setTimeout as wait } from "node:timers/promises";
import { postgresRecipe } from "../../kit/servers/postgres.ts";
import { redisRecipe } from "../../kit/servers/redis.ts";

const [, , name = "", port = ""] = process.argv;
const recipe = name === "redis" ? redisRecipe() : postgresRecipe();
const until = performance.now() + 20_000;
while (!(await recipe.isReady("", Number(port)))) {
  if (performance.now() > until) throw new Error(`${name} is not ready`);
  await wait(20);
}
