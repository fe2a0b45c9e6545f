/**
 * The SDK's client, through the proxy of docs/guide/behind-nginx.md: `nginx-client.ts legacy|modern URL CONFIG`. Ends with
 * 0 when events came while their call was still running, and a change of the config was heard of.
 */
import { appendFileSync } from "node:fs";
import { type ClientPeerV2, type Constructor, type HttpClientTransport, type Json, load } from "../../eras/sdk.ts";

const [, , era = "", url = "", config = ""] = process.argv;
const { Client, StreamableHTTPClientTransport } = await load<{
  Client: Constructor<[Json, Json], ClientPeerV2>;
  StreamableHTTPClientTransport: Constructor<[URL, Json], HttpClientTransport>;
}>("client/dist/index.mjs");

const isModern = era === "modern";
const mode = isModern ? { pin: "2026-07-28" } : "legacy";
const client = new Client({ name: "guide", version: "1" }, { versionNegotiation: { mode } });
let tellOfChange = () => {};
const nextChange = () =>
  new Promise<void>((resolve) => {
    tellOfChange = resolve;
  });
client.setNotificationHandler("notifications/tools/list_changed", () => tellOfChange());
const requestInit = { headers: { authorization: "Bearer change-me" } };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
const options = { timeout: 20_000 };

/** The answer to one call, asked for when the first progress of another has come, is there before the other ends. */
async function checkProgress(): Promise<void> {
  const order: string[] = [];
  let greeted: Promise<unknown> | undefined;
  const onprogress = () => {
    greeted ??= client
      .callTool({ name: "hello.greet", arguments: { name: "Ada" } }, options)
      .then(() => order.push("greeted"));
  };
  await client.callTool({ name: "hello.count", arguments: { to: 100 } }, { ...options, onprogress });
  order.push("counted");
  await greeted;
  if (order.join() !== "greeted,counted") throw new Error(`progress was held back: ${order}`);
}

/** A list may change once when a server is added, and again when it has listed. */
async function checkChange(): Promise<void> {
  if (isModern) await client.listen({ toolsListChanged: true }, options);
  let change = nextChange();
  appendFileSync(config, `\n[[servers]]\nid = "${era}"\ncommand = "node"\nargs = ["examples/hello/server.mjs"]\n`);
  for (let isThere = false; !isThere; ) {
    await change;
    change = nextChange();
    const { tools } = await client.listTools(undefined, options);
    isThere = tools.some(({ name }) => name === `${era}.greet`);
  }
}

await checkProgress();
await checkChange();
process.stdout.write(`${era}: streams\n`);
process.exit(0);
