/**
 * The main program of a client: `client-….ts --url URL --names fixture|everything --features a,b [--mode …]`.
 * Prints one line of JSON per feature.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { FEATURES, type Offer } from "./features.ts";
import { Ear, type Peer } from "./peer.ts";

export type Connect = (url: string, ear: Ear, mode: string) => Promise<Peer>;

type Outcome = { outcome: "ok" | "n/a" | "fail"; detail: string };

export async function drive(connect: Connect): Promise<void> {
  const option = { type: "string", default: "" } as const;
  const { values } = parseArgs({ options: { url: option, names: option, features: option, mode: option } });
  const offers = JSON.parse(readFileSync(new URL("./names.json", import.meta.url), "utf8"))[values.names];
  const ear = new Ear();
  const peer = await connect(values.url, ear, values.mode).catch((error: unknown) => String(error));
  // A server may ask on its own soon after it was opened; a client of 2026-07-28 can answer only while it calls.
  if (typeof peer !== "string" && offers.ahead) await peer.callTool(offers.ahead.name, offers.ahead.arguments);
  for (const feature of values.features.split(",")) {
    const found = typeof peer === "string" ? failed(peer) : await tryFeature(feature, peer, offers[feature], ear);
    process.stdout.write(`${JSON.stringify({ feature, ...found })}\n`);
  }
  if (typeof peer !== "string") await peer.close().catch(() => {});
  process.exit(0);
}

async function tryFeature(feature: string, peer: Peer, offer: Offer | undefined, ear: Ear): Promise<Outcome> {
  if (offer === undefined) return { outcome: "n/a", detail: "the server does not have it" };
  const run = FEATURES[feature];
  if (run === undefined) return failed("the driver does not know it");
  try {
    return { outcome: "ok", detail: await run(peer, offer, ear) };
  } catch (error) {
    return failed(String(error));
  }
}

const failed = (detail: string): Outcome => ({ outcome: "fail", detail });
