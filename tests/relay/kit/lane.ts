/** A way through the gateway: a client on one side, a recording server on the other. */
import { startGateway } from "../../e2e/kit/gateway.ts";
import { startPipeUpstream } from "../recording-pipe.ts";
import { startHttpUpstream } from "../recording-upstream.ts";
import type { Client } from "./client.ts";
import { openHttpClient } from "./http-client.ts";
import { offer, type Upstream } from "./recording.ts";
import { openStdioClient } from "./stdio-client.ts";

export type LaneKind =
  | "http to http, JSON"
  | "http to http, events"
  | "http to stdio"
  | "stdio to stdio"
  | "stdio to http";

export type Lane = {
  readonly kind: LaneKind;
  readonly prefix: string;
  readonly client: Client;
  readonly upstream: Upstream;
  /** What may stand before the answer. */
  readonly streams: boolean;
  /** What framing makes of the line ends of a text on its way up and down. */
  up(text: string): string;
  down(text: string): string;
  close(): Promise<void>;
};

export const LANES: readonly LaneKind[] = [
  "http to http, JSON",
  "http to http, events",
  "http to stdio",
  "stdio to stdio",
  "stdio to http",
];

export const NAMES = { tool: "echo", prompt: "greet", uri: "relay://thing/1", template: "relay://thing/{id}" };

const OFFERS = {
  tools: [offer.tool(NAMES.tool)],
  prompts: [offer.prompt(NAMES.prompt)],
  resources: [offer.resource(NAMES.uri)],
  templates: [offer.template(NAMES.template)],
};

const same = (text: string) => text;
const asLine = (text: string) => text.replace(/[\r\n]/g, " ");
const asLines = (text: string) => text.replace(/[\r\n]+/g, " ");
const asEvent = (text: string) => text.replace(/\r\n|\r/g, "\n");

export async function openLane(kind: LaneKind, prefix: string): Promise<Lane> {
  const isPipe = kind.endsWith("to stdio");
  const answers = kind === "http to http, JSON" ? "json" : "sse";
  const upstream = isPipe ? await startPipeUpstream(OFFERS) : await startHttpUpstream({ offers: OFFERS, answers });
  const config = `[[servers]]\nid = "up"\nera = "2025"\nprefix = ${JSON.stringify(prefix)}\n${upstream.address}\n`;
  const { client, stop } = kind.startsWith("stdio") ? await openByPipe(config) : await openByHttp(config);
  return {
    kind,
    prefix,
    client,
    upstream,
    streams: answers === "sse",
    ...framingOf(kind),
    async close() {
      await client.close();
      await stop();
      await upstream.close();
    },
  };
}

function framingOf(kind: LaneKind): Pick<Lane, "up" | "down"> {
  if (kind === "http to http, JSON") return { up: same, down: same };
  if (kind === "http to http, events") return { up: same, down: asEvent };
  return { up: asLine, down: kind === "stdio to http" ? asLines : asLine };
}

async function openByPipe(config: string) {
  return { client: await openStdioClient(config), stop: () => Promise.resolve() };
}

async function openByHttp(config: string) {
  const gateway = await startGateway({ config });
  const client = await openHttpClient(gateway.url);
  await client.listen();
  return { client, stop: () => gateway.stop() };
}
