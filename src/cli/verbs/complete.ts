import { openRunning } from "../client/connect.ts";
import { configuredUrl } from "../client/gateway-url.ts";
import { listOffers } from "../client/offers.ts";
import { print } from "../output/console.ts";
import { readGatewayPlace } from "../own-config.ts";

/** A person waits with a finger on the key. */
const TIMEOUT_MS = 300;

/** Prints the words that a shell may complete, one per line; nothing when no gateway answers at once. */
export async function complete(what: string): Promise<void> {
  setTimeout(() => process.exit(0), TIMEOUT_MS).unref();
  try {
    const place = readGatewayPlace({});
    if (what === "server") return printAll(place.servers.map(({ id }) => id));
    const url = configuredUrl(place);
    const running = url && (await openRunning(url, {}, TIMEOUT_MS));
    if (!running) return;
    const { offers } = await listOffers({ ...running, place }, ["tool"]);
    printAll(offers.map(({ name }) => name));
    await running.close();
  } catch {
    // A shell that completes has no place for what went wrong.
  }
}

function printAll(words: readonly string[]): void {
  for (const word of words) if (/^[\w./:@+-]+$/.test(word)) print(word);
}
