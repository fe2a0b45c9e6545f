/** A gateway that dies at a fault point, seen by its clients: what they were told before holds afterwards. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DRIVEN, type Driven } from "./points.ts";
import { SCENARIOS, type ScenarioName } from "./scenarios.ts";
import { isCut } from "./story.ts";
import { type Gateway, type Stores, World } from "./world.ts";

/** Stories whose end is looked at once more where the dead one starts again. */
const EVERYWHERE: ReadonlySet<ScenarioName> = new Set(["session", "deletion", "keyed", "start"]);

let world: World;
let shared: Stores;
/** Lives through all of it. */
let survivor: Gateway;

beforeAll(async () => {
  world = await World.start();
  shared = await world.stores("many");
  survivor = await world.gateway(shared);
});
afterAll(() => world?.stop());

async function play({ point, times, place, scenario }: Driven): Promise<void> {
  const stores = place === "many" ? shared : await world.stores(place);
  const story = SCENARIOS[scenario]({ world, stores, point });
  if (story.before) {
    const first = await world.gateway(stores);
    await story.before(first.url);
    await first.end();
  }
  const doomed = await world.gateway(stores, `${point}#${times}`);
  try {
    if (doomed.isReady) {
      await story.run(doomed).catch((error: unknown) => {
        if (!isCut(error)) throw error;
      });
    }
    await doomed.death();
  } finally {
    await doomed.end();
  }
  if (place === "many") await story.check(survivor.url);
  if (place === "many" && !EVERYWHERE.has(scenario)) return;
  const next = await world.gateway(stores);
  await story.check(next.url);
  await next.end();
}

describe.concurrent("a gateway that dies", () => {
  test.each(DRIVEN)("at $point, time $times, in the story $scenario ($place): $after", async (row) => {
    await play(row);
  });
});

test("one that lives has served all the while", () => {
  expect(survivor.child.exitCode ?? survivor.child.signalCode).toBeNull();
});
